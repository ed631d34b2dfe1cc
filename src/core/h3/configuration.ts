/** What is computed of a raster by H3 cell, and where the files of computations lie. */
import { z } from "zod";
import { bboxSchema } from "../geometry/geometry.ts";
import { usualStatistics, zonalStatistic, zonalStatistics } from "../zonal/statistics.ts";

/** Work is cut along the cells of this resolution: one task, one file a resolution for each. */
export const chunkResolution = 3;

export const rasterName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,99}$/, "must hold only small letters, digits, _ and -");
export const period = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, "must hold only letters, digits, _ . -");
export const h3Cell = z.string().regex(/^[0-9a-f]{15}$/, "must be the index of an H3 cell");
export const resolution = z.number().int().min(0).max(15);

export const h3Configuration = z
  .strictObject({
    band: z.number().int().min(1).max(10_000).default(1),
    statistics: z
      .array(zonalStatistic)
      .min(1)
      .max(zonalStatistics.length)
      .default([...usualStatistics]),
    min_resolution: resolution.default(2),
    max_resolution: resolution.max(10).default(7),
    /** Only cells of resolution 3 that touch land. */
    land_only: z.boolean().default(true),
    bbox: bboxSchema.nullish(),
    /** Instead of the file's own. */
    nodata: z.number().nullish(),
  })
  .refine(({ min_resolution, max_resolution }) => min_resolution <= max_resolution, {
    message: "min_resolution must not be above max_resolution",
  });
export type H3Configuration = z.infer<typeof h3Configuration>;

/** Where a raster comes from: a path or https address, an item, or all items of a collection. */
export const h3Source = z
  .strictObject({
    blob_path: z.string().min(1).max(1024).nullish(),
    collection_id: z.string().min(1).max(255).nullish(),
    item_id: z.string().min(1).max(255).nullish(),
  })
  .refine(
    ({ blob_path, collection_id, item_id }) =>
      (blob_path == null) !== (collection_id == null) && (item_id == null || collection_id != null),
    { message: "needs either blob_path, or collection_id with or without item_id" },
  );
export type H3Source = z.infer<typeof h3Source>;

export const h3Kinds = ["raster", "vector", "combined"] as const;
export type H3Kind = (typeof h3Kinds)[number];

/** The workflow that computes a kind of data set, and its input for the name. */
export const h3Workflows = {
  raster: { workflow: "h3_raster_aggregation", name: "raster" },
  vector: { workflow: "h3_vector_aggregation", name: "layer" },
  combined: { workflow: "h3_weighted_aggregation", name: "combination" },
} as const satisfies Readonly<Record<H3Kind, object>>;

export interface H3Place {
  readonly kind: H3Kind;
  /** The name of the data set. */
  readonly raster: string;
  readonly period: string;
  readonly resolution: number;
}

/** `silver/h3_stats/raster=dem/period=2024/resolution=5/h3_l3=831f8dfffffffff.parquet` */
export function chunkPath({ kind, raster, period, resolution }: H3Place, h3L3: string): string {
  return `silver/h3_stats/${kind}=${raster}/period=${period}/resolution=${resolution}/h3_l3=${h3L3}.parquet`;
}

/** Beside the chunks and not among them, so that a pattern over the chunks finds each row once. */
export function compactPath({ kind, raster, period, resolution }: H3Place): string {
  return `silver/h3_compact/${kind}=${raster}/period=${period}/resolution=${resolution}.parquet`;
}

export function resolutionsOf({
  min_resolution,
  max_resolution,
}: Pick<H3Configuration, "min_resolution" | "max_resolution">): number[] {
  return Array.from(
    { length: max_resolution - min_resolution + 1 },
    (_, index) => min_resolution + index,
  );
}
