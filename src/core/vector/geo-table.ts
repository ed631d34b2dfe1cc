/** The table of a layer, which the loader makes and serving reads. */
import { z } from "zod";
import { multiType } from "./parts.ts";

/**
 * PostgreSQL folds the case of other names and truncates longer ones, so two tables could collide.
 */
export const tableName = z
  .string()
  .max(63)
  .regex(/^[a-z_][a-z0-9_]*$/, "must be a lower-case PostgreSQL name");

/** The column types of a layer, whatever the file called them. */
export const columnTypes = [
  "text",
  "boolean",
  "integer",
  "bigint",
  "double precision",
  "date",
  "time",
  "timestamptz",
  "jsonb",
  "bytea",
  "text[]",
  "integer[]",
  "bigint[]",
  "double precision[]",
] as const;

export const geoColumn = z.object({
  name: tableName,
  type: z.enum(columnTypes),
  /** The attribute's name in the file. */
  source: z.string(),
  /** No feature has a value: the column is in the chunks, and is dropped when they are loaded. */
  is_empty: z.literal(true).optional(),
});
export type GeoColumn = z.infer<typeof geoColumn>;

/** `postgis`: a geometry column. `wkb`: bytea, with a box beside it for the index. */
export const geometryForms = ["postgis", "wkb"] as const;
export type GeometryForm = (typeof geometryForms)[number];

export const geometryType = z.enum([multiType.point, multiType.line, multiType.polygon]);
export type GeometryType = z.infer<typeof geometryType>;

/** All tables of the platform hold longitude and latitude on WGS 84. */
export const srid = 4326;
