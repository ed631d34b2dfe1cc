import { z } from "zod";
import type { Json, JsonObject } from "../../../src/core/model/json.ts";

/** The answer about a point of a raster. */
const pointValues = z.object({
  coordinates: z.array(z.number()),
  values: z.array(z.number().nullable()),
  band_names: z.array(z.string()),
});

/** The rows of a table: the attributes of a feature, or the values of a raster by band. */
export function attributesOf(values: JsonObject): [name: string, text: string][] {
  const point = pointValues.safeParse(values);
  if (!point.success) return Object.entries(values).flatMap(([name, value]) => rowsOf(name, value));
  const { coordinates, values: pixels, band_names: names } = point.data;
  return [
    ...pixels.map((pixel, at): [string, string] => [
      names[at] ?? `band ${at + 1}`,
      pixel === null ? "no data" : String(pixel),
    ]),
    ["longitude, latitude", coordinates.join(", ")],
  ];
}

/** A histogram, which tiles hold as text, has a row for each of its values. */
function rowsOf(name: string, value: Json | undefined): [name: string, text: string][] {
  const histogram = name === "histogram" ? readHistogram(value) : undefined;
  if (histogram === undefined) return [[name, textOf(value)]];
  return Object.entries(histogram).map(([of, share]) => [
    `${name}: ${of}`,
    String(Number(share.toPrecision(6))),
  ]);
}

function readHistogram(value: Json | undefined): Record<string, number> | undefined {
  if (typeof value !== "string") return undefined;
  try {
    return z.record(z.string(), z.number()).safeParse(JSON.parse(value)).data;
  } catch {
    return undefined;
  }
}

function textOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
