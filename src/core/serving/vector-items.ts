/** Reads a request for features, as OGC API Features and TiPG define it. */
import { z } from "zod";
import { readInterval, readSort } from "../catalogue/query-parameters.ts";
import type { Filter } from "../cql2/ast.ts";
import { checkSpatial } from "../cql2/spatial.ts";
import { filterFromJson, filterFromText } from "../cql2/read-filter.ts";
import { Problem } from "../errors.ts";
import { integer } from "../model/integer.ts";
import type { Json } from "../model/json.ts";
import { isDay, isMoment } from "../model/moment.ts";
import type { GeoColumn } from "../vector/geo-table.ts";

const mostItems = 10_000;

const crs84 = z
  .literal("http://www.opengis.net/def/crs/OGC/1.3/CRS84")
  .describe("longitude and latitude, the only system");

/** The known query parameters. Any other name is a column, and the feature must have that value. */
export const itemsQuery = {
  limit: integer(1, Number.MAX_SAFE_INTEGER)
    .prefault(10)
    .transform((wanted) => Math.min(wanted, mostItems))
    .describe("how many features at most; 10,000 if more are asked for"),
  token: z.string().max(16_384).optional().describe("of the `next` link of the page before"),
  bbox: z
    .string()
    .max(256)
    .transform((text, context): [number, number, number, number] => {
      const numbers = text.split(",").map((part) => Number(part.trim() || "x"));
      const [west, south, east, north] = numbers.length === 6 ? heightless(numbers) : numbers;
      const isRight = [4, 6].includes(numbers.length) && numbers.every(Number.isFinite);
      if (isRight && (south ?? 0) <= (north ?? 0)) {
        return [west ?? 0, south ?? 0, east ?? 0, north ?? 0];
      }
      context.addIssue("must be west,south,east,north in degrees");
      return z.NEVER;
    })
    .optional(),
  "bbox-crs": crs84.optional(),
  crs: crs84.optional(),
  datetime: z.string().max(100).optional(),
  ids: z
    .string()
    .max(16_384)
    .regex(/^\d{1,15}(,\d{1,15})*$/, "must be numbers of features with commas between them")
    .transform((text) => text.split(",").map(Number))
    .optional(),
  properties: z.string().max(65_536).optional().describe("the columns that are wanted"),
  sortby: z.string().max(1024).optional().describe("columns, with - in front for descending"),
  filter: z.string().max(65_536).optional().describe("CQL2"),
  "filter-lang": z.enum(["cql2-text", "cql2-json"]).default("cql2-text"),
  f: z.enum(["json", "geojson", "csv"]).default("geojson"),
} as const;

export type ItemsQuery = z.output<z.ZodObject<typeof itemsQuery>> &
  Readonly<Record<string, unknown>>;

export interface AskedItems {
  readonly bbox: readonly [number, number, number, number] | undefined;
  readonly ids: readonly number[] | undefined;
  readonly filter: Filter | undefined;
  readonly sort: readonly { readonly name: string; readonly isDescending: boolean }[];
  readonly columns: readonly GeoColumn[];
  readonly limit: number;
}

/** `own` names the parameters of the route that are not columns either. */
export function readItems(
  asked: ItemsQuery,
  columns: readonly GeoColumn[],
  own: readonly string[] = [],
): AskedItems {
  const filters = [
    ...readFilter(asked),
    ...readDatetime(asked.datetime, columns),
    ...readEquals(asked, columns, own),
  ];
  for (const filter of filters) checkSpatial(filter, ["geom", "geometry"]);
  const sort = asked.sortby === undefined ? [] : readSort(asked.sortby);
  return {
    bbox: asked.bbox,
    ids: asked.ids,
    filter: filters.length === 0 ? undefined : { kind: "all", parts: filters },
    sort: sort.map(({ field, direction }) => ({
      name: field === "id" ? "fid" : demand(field, columns, "sortby").name,
      isDescending: direction === "desc",
    })),
    columns: readColumns(asked.properties, columns),
    limit: asked.limit,
  };
}

function heightless([west = 0, south = 0, , east = 0, north = 0]: readonly number[]): number[] {
  return [west, south, east, north];
}

function readFilter({ filter, "filter-lang": language }: ItemsQuery): Filter[] {
  if (filter === undefined) return [];
  if (language === "cql2-text") return [filterFromText(filter)];
  try {
    return [filterFromJson(JSON.parse(filter) as Json)];
  } catch (error) {
    if (error instanceof SyntaxError) throw refuse("filter", "must be JSON");
    throw error;
  }
}

function readDatetime(text: string | undefined, columns: readonly GeoColumn[]): Filter[] {
  if (text === undefined) return [];
  const column = columns.find(({ type }) => type === "timestamptz" || type === "date");
  if (column === undefined) throw refuse("datetime", "cannot be used: no column is a date");
  const { start = null, end = null } = readInterval(text);
  return [
    {
      kind: "temporal",
      op: "t_intersects",
      left: { kind: "property", name: column.name },
      right: { kind: "span", start, end },
    },
  ];
}

function readEquals(
  asked: ItemsQuery,
  columns: readonly GeoColumn[],
  own: readonly string[],
): Filter[] {
  return Object.entries(asked)
    .filter(([name]) => !Object.hasOwn(itemsQuery, name) && !own.includes(name))
    .map(([name, text]): Filter => {
      const column = demand(name, columns, name);
      if (typeof text !== "string") throw refuse(name, "can be given once only");
      const left = { kind: "property", name } as const;
      const value = typed(column, text);
      return { kind: "compare", op: "=", left, right: value };
    });
}

function typed({ name, type }: GeoColumn, text: string) {
  switch (type) {
    case "integer":
    case "bigint":
    case "double precision": {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value)) throw refuse(name, "must be a number");
      return { kind: "literal", value } as const;
    }
    case "boolean":
      if (!["true", "false"].includes(text)) throw refuse(name, "must be true or false");
      return { kind: "literal", value: text === "true" } as const;
    case "date":
    case "timestamptz":
      if (!isDay(text) && !isMoment(text)) {
        throw refuse(
          name,
          "must be a date such as 2024-05-01, or with a time in the form of RFC 3339",
        );
      }
      return { kind: "moment", at: text } as const;
    default:
      return { kind: "literal", value: text } as const;
  }
}

function readColumns(
  text: string | undefined,
  columns: readonly GeoColumn[],
): readonly GeoColumn[] {
  if (text === undefined) return columns;
  const names = new Set(text.split(",").map((name) => name.trim()));
  names.delete("");
  for (const name of names) demand(name, columns, "properties");
  return columns.filter((column) => names.has(column.name));
}

function demand(name: string, columns: readonly GeoColumn[], parameter: string): GeoColumn {
  const found = columns.find((column) => column.name === name);
  if (found !== undefined) return found;
  const known = columns.map((column) => column.name).join(", ");
  throw refuse(parameter, `names no column of the layer "${name}"; it has: ${known}`);
}

function refuse(parameter: string, message: string): Problem {
  return new Problem("BAD_REQUEST", `${parameter} ${message}.`, [
    { pointer: `/query/${parameter}`, code: "INVALID", message },
  ]);
}
