/** What is computed of features by H3 cell, and where they come from. */
import { z } from "zod";
import { bboxSchema } from "../geometry/geometry.ts";
import { tableName } from "../vector/geo-table.ts";
import { kinds } from "../vector/parts.ts";
import { resolution } from "./configuration.ts";

const column = z.string().min(1).max(255);

export const h3VectorConfiguration = z
  .strictObject({
    /** Without it, what the layer has; other parts of its geometries do not count. */
    geometry: z.enum(kinds).nullish(),
    /** A column by whose values counts, lengths or areas are told apart. */
    category: column.nullish(),
    /** A column of numbers that are summed, by the share of the feature that lies in the cell. */
    weight: column.nullish(),
    min_resolution: resolution.default(2),
    max_resolution: resolution.max(10).default(7),
    land_only: z.boolean().default(false),
    bbox: bboxSchema.nullish(),
  })
  .refine(({ min_resolution, max_resolution }) => min_resolution <= max_resolution, {
    message: "min_resolution must not be above max_resolution",
  });
export type H3VectorConfiguration = z.infer<typeof h3VectorConfiguration>;

/** A published layer, or a GeoParquet file: a path in storage or an https address. */
export const h3VectorSource = z
  .strictObject({ table_name: tableName.nullish(), blob_path: z.string().max(1024).nullish() })
  .refine(({ table_name, blob_path }) => (table_name == null) !== (blob_path == null), {
    message: "needs either table_name or blob_path",
  });
export type H3VectorSource = z.infer<typeof h3VectorSource>;
