import { z } from "zod";
import { bboxSchema } from "../geometry/geometry.ts";
import { h3Cell, period, rasterName } from "../h3/configuration.ts";
import { moment } from "../model/moment.ts";
import { queueFor } from "../queues.ts";
import { defineContract } from "./contract.ts";
import { tableName } from "../vector/geo-table.ts";
import { blobPath, bounds, identifier } from "./geospatial.ts";

const runId = z.string().regex(/^[0-9a-f]{32}$/);
const finding = z.object({ code: z.string(), message: z.string() });

const discoverRaster = defineContract({
  name: "h3_discover_raster",
  description: "Finds the cells of resolution 3 that a raster covers, and records the computation.",
  params: z.strictObject({
    /** The name of the data set: it is a part of the paths. */
    raster: rasterName,
    /** Without a source, the source that `rmhdag h3 sources add` has recorded. */
    blob_path: blobPath.nullish(),
    collection_id: identifier.nullish(),
    item_id: identifier.nullish(),
    /** Without it, the day of the item's time, or "static". */
    period: period.nullish(),
    configuration: z.record(z.string(), z.json()).nullish(),
  }),
  result: z.object({
    raster: z.string(),
    run_ids: z.array(runId),
    /** One for each task of a fan-out. */
    chunks: z.array(z.object({ run_id: runId, h3_l3: h3Cell, coarser: z.array(h3Cell) })),
    chunk_count: z.number().int(),
    findings: z.array(finding),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

const zonalStats = defineContract({
  name: "h3_zonal_stats",
  description: "Computes the statistics of all H3 cells below one cell of resolution 3.",
  params: z.strictObject({
    run_id: runId,
    h3_l3: h3Cell,
    /** Coarser cells that this task computes too: each is computed by one of its children. */
    coarser: z.array(h3Cell).default([]),
  }),
  result: z.object({
    h3_l3: z.string(),
    row_count: z.number().int(),
    file_count: z.number().int(),
    /** True: the files were there already. */
    reused: z.boolean(),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

const discoverVector = defineContract({
  name: "h3_discover_vector",
  description: "Finds the cells of resolution 3 that features meet, and records the computation.",
  params: z.strictObject({
    /** The name of the data set: it is a part of the paths. */
    layer: rasterName,
    /** Without a source, the source that `rmhdag h3 sources add` has recorded. */
    table_name: tableName.nullish(),
    /** A GeoParquet file. */
    blob_path: blobPath.nullish(),
    period: period.nullish(),
    configuration: z.record(z.string(), z.json()).nullish(),
  }),
  result: z.object({
    layer: z.string(),
    run_ids: z.array(runId),
    chunks: z.array(z.object({ run_id: runId, h3_l3: h3Cell, coarser: z.array(h3Cell) })),
    chunk_count: z.number().int(),
    findings: z.array(finding),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

const vectorStats = defineContract({
  ...zonalStats,
  name: "h3_vector_stats",
  description:
    "Counts points, or measures lines or areas, in all H3 cells below one of resolution 3.",
});

const discoverCombination = defineContract({
  name: "h3_discover_combination",
  description:
    "Finds the cells of resolution 3 that data sets by H3 cell have in common, and records what is made of them.",
  params: z.strictObject({
    /** The name of the new data set: it is a part of the paths. */
    combination: rasterName,
    /** By the name that formulas use; without them, what `rmhdag h3 sources add` has recorded. */
    datasets: z.record(z.string(), z.json()).nullish(),
    period: period.nullish(),
    configuration: z.record(z.string(), z.json()).nullish(),
  }),
  result: z.object({
    combination: z.string(),
    run_ids: z.array(runId),
    chunks: z.array(z.object({ run_id: runId, h3_l3: h3Cell, coarser: z.array(h3Cell) })),
    chunk_count: z.number().int(),
    findings: z.array(finding),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

const weightedAggregation = defineContract({
  ...zonalStats,
  name: "h3_weighted_aggregation",
  description:
    "Computes formulas and weighted means of several data sets in all H3 cells below one of resolution 3.",
});

const finalize = defineContract({
  name: "h3_finalize",
  description: "Checks that no chunk is missing, and writes one file for each resolution.",
  params: z.strictObject({ run_ids: z.array(runId).max(10_000) }),
  result: z.object({
    run_ids: z.array(runId),
    row_count: z.number().int(),
    /** Multihash of all values: the same values need no second review. */
    content_hash: z.string(),
    files: z.array(
      z.object({ path: z.string(), resolution: z.number().int(), row_count: z.number().int() }),
    ),
    findings: z.array(finding),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 14_400,
});

const registerDataset = defineContract({
  name: "h3_register_dataset",
  description: "Registers computed H3 statistics as items of the catalogue, one for each period.",
  params: z.strictObject({
    run_ids: z.array(runId).max(10_000),
    collection_id: identifier,
    item_id: identifier.nullish(),
    title: z.string().max(255).nullish(),
    datetime: moment.nullish(),
    platform: z.record(z.string(), z.string().max(255)).nullish(),
  }),
  result: z.object({
    collection_id: identifier,
    item_id: identifier.nullable(),
    item_ids: z.array(identifier),
    bbox: bounds.nullable(),
  }),
  queue: queueFor.light,
  timeout_seconds: 600,
});

const exportDataset = defineContract({
  name: "h3_export_dataset",
  description: "Copies the compacted files of computed H3 statistics to the gold zone.",
  params: z.strictObject({ run_ids: z.array(runId).max(10_000) }),
  result: z.object({ files: z.array(z.string()), bytes: z.number().int() }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

const connectivity = defineContract({
  name: "h3_connectivity",
  description: "Writes H3 cells and their neighbours with geodesic distances, as a list of edges.",
  params: z.strictObject({
    name: rasterName,
    resolution: z.number().int().min(0).max(10),
    k: z.number().int().min(1).max(10).default(1),
    bbox: bboxSchema.nullish(),
    land_only: z.boolean().default(true),
  }),
  result: z.object({
    blob_path: blobPath,
    resolution: z.number().int(),
    k: z.number().int(),
    cell_count: z.number().int(),
    edge_count: z.number().int(),
    bytes: z.number().int(),
    checksum: z.string(),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 14_400,
});

export const h3Contracts = [
  discoverRaster,
  zonalStats,
  discoverVector,
  vectorStats,
  discoverCombination,
  weightedAggregation,
  finalize,
  registerDataset,
  exportDataset,
  connectivity,
] as const;
