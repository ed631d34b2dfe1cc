/** Finds the invalid geometries of a layer with one query. */
import { z } from "zod";
import { recordSeparator } from "../files/detect-content.ts";

/** Written in SQLite's dialect, which GDAL offers for every format. */
export function invalidSql(layer: string): string {
  return `SELECT GROUP_CONCAT(CASE WHEN ST_IsValid(geometry) = 0 THEN rowid END) AS invalid FROM "${layer}"`;
}

const answer = z.object({
  properties: z.looseObject({ invalid: z.union([z.string(), z.number()]).nullish() }),
});

/**
 * Reads the single feature of the query's output, which is written as lines of GeoJSON: GDAL's
 * numbers of the features with invalid geometries.
 */
export function readInvalid(text: string): ReadonlySet<number> {
  const { properties } = answer.parse(JSON.parse(text.replace(recordSeparator, "").trim()));
  const invalid = String(properties.invalid ?? "");
  return new Set(invalid === "" ? [] : invalid.split(",").map(Number));
}
