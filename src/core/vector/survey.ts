/** One look at all features before anything is converted: counts, broken geometries, empty columns. */
import { z } from "zod";
import { recordSeparator } from "./source-format.ts";

export interface Survey {
  readonly featureCount: number;
  /** By the number that GDAL gives each feature. */
  readonly invalid: ReadonlySet<number>;
  /** Those that hold nothing at all. */
  readonly emptyColumns: ReadonlySet<string>;
}

/** In SQLite's dialect, which GDAL offers for every format. */
export function surveySql(
  layer: string,
  geometryColumn: string,
  fields: readonly string[],
): string {
  const geometry = quote(geometryColumn);
  const counts = fields.map((field, index) => `COUNT(${quote(field)}) AS c${index}`);
  const columns = [
    "COUNT(*) AS features",
    `GROUP_CONCAT(CASE WHEN ST_IsValid(${geometry}) = 0 THEN rowid END) AS invalid`,
    ...counts,
  ];
  return `SELECT ${columns.join(", ")} FROM ${quote(layer)}`;
}

const answer = z.object({
  properties: z.looseObject({
    features: z.coerce.number().int(),
    invalid: z.union([z.string(), z.number()]).nullish(),
  }),
});

/** The only feature of what it wrote as lines of GeoJSON. */
export function readSurvey(text: string, fields: readonly string[]): Survey {
  const { properties } = answer.parse(JSON.parse(text.replace(recordSeparator, "").trim()));
  const invalid = String(properties.invalid ?? "");
  return {
    featureCount: properties.features,
    invalid: new Set(invalid === "" ? [] : invalid.split(",").map(Number)),
    emptyColumns: new Set(fields.filter((_, index) => Number(properties[`c${index}`] ?? 0) === 0)),
  };
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
