/** Surveys all features before the conversion: their count, invalid geometries, empty columns. */
import { z } from "zod";
import { recordSeparator } from "./source-format.ts";

export interface Survey {
  readonly featureCount: number;
  /** GDAL's numbers of the features with invalid geometries. */
  readonly invalid: ReadonlySet<number>;
  /** Columns without any value. */
  readonly emptyColumns: ReadonlySet<string>;
}

/** Written in SQLite's dialect, which GDAL offers for every format. */
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

/** Reads the single feature of the query's output, which is written as lines of GeoJSON. */
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
