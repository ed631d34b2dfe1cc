/** Reads the names and colours of classes from a raster attribute table, as gdalinfo writes it. */
import { z } from "zod";
import type { RasterClass } from "./facts.ts";

/** What a column means, by GDAL's numbers. */
const usages = { name: 2, value: 5, red: 6, green: 7, blue: 8, min: 3 } as const;
const mostClasses = 4096;

const table = z.looseObject({
  fieldDefn: z.array(
    z.looseObject({ index: z.number(), name: z.string().optional(), usage: z.number().optional() }),
  ),
  row: z.array(z.looseObject({ index: z.number(), f: z.array(z.union([z.number(), z.string()])) })),
});

/** Empty where the table does not name values. */
export function readClasses(rat: unknown): RasterClass[] {
  const parsed = table.safeParse(rat);
  if (!parsed.success) return [];
  const { fieldDefn: fields, row: rows } = parsed.data;
  const column = (usage: number, name?: RegExp) =>
    fields.find((field) => field.usage === usage)?.index ??
    fields.find((field) => name?.test(field.name ?? "") === true)?.index;
  const names = column(usages.name, /^(?:class|category|label|name)(?:_?names?)?$/i);
  if (names === undefined) return [];
  const values = column(usages.value, /^value$/i) ?? column(usages.min);
  const parts = [column(usages.red), column(usages.green), column(usages.blue)];
  return rows.slice(0, mostClasses).flatMap(({ index, f }) => {
    const value = values === undefined ? index : Number(f[values]);
    const name = String(f[names] ?? "").trim();
    if (!Number.isFinite(value) || name === "") return [];
    const hex = parts.map((at) => toHex(at === undefined ? undefined : f[at]));
    const color = hex.every((part) => part !== undefined) ? { color: hex.join("") } : {};
    return [{ value, name, ...color }];
  });
}

function toHex(part: number | string | undefined): string | undefined {
  const value = Number(part);
  if (part === undefined || !Number.isInteger(value) || value < 0 || value > 255) return undefined;
  return value.toString(16).padStart(2, "0");
}
