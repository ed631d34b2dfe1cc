import { z } from "zod";
import { queueFor } from "../queues.ts";
import { defineContract } from "./contract.ts";
import { blobPath, bounds, compression, container, crs, geometry } from "./geospatial.ts";
import { resampling, written } from "./geospatial.ts";

const source = { blob_path: blobPath, container: container.optional() };
const destination = {
  output_path: blobPath.optional(),
  output_container: container.optional(),
};

/** One cell of a tiling scheme: a window in pixels of the source. */
const tile = z.looseObject({
  index: z.number().int().min(0),
  window: z.tuple([z.number(), z.number(), z.number(), z.number()]),
});

const validate = defineContract({
  name: "raster.validate",
  description: "Opens a raster, reads what it is, and says whether it can be processed.",
  params: z.strictObject({
    ...source,
    /** For a file that names none; refused if it contradicts the file. */
    source_crs: crs.optional(),
    strict: z.boolean().default(false),
  }),
  result: z.object({
    blob_path: blobPath,
    container,
    file_size_mb: z.number().min(0),
    verdict: z.enum(["green", "warning", "rejected"]),
    findings: z.array(z.object({ code: z.string(), severity: z.string(), message: z.string() })),
    crs: crs.nullable(),
    bounds: bounds.nullable(),
    width: z.number().int(),
    height: z.number().int(),
    band_count: z.number().int(),
    dtype: z.string(),
    nodata: z.union([z.number(), z.string()]).nullable(),
    is_cog: z.boolean(),
    raster_type: z.string(),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 600,
});

const createCog = defineContract({
  name: "raster.create_cog",
  description: "Makes a Cloud-Optimized GeoTIFF, reprojected on the way if asked to.",
  params: z.strictObject({
    ...source,
    ...destination,
    source_crs: crs.optional(),
    target_crs: crs.optional(),
    compression: compression.optional(),
    quality: z.number().int().min(1).max(100).optional(),
    block_size: z.union([z.literal(256), z.literal(512), z.literal(1024)]).default(512),
    resampling: resampling.optional(),
    overview_resampling: resampling.optional(),
    nodata: z.number().optional(),
  }),
  result: written.extend({ crs, bounds, band_count: z.number().int(), checksum: z.string() }),
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

const blobToMount = defineContract({
  name: "raster.blob_to_mount",
  description: "Copies a file from storage to the worker's local mount.",
  params: z.strictObject({ ...source, mount_path: z.string().min(1).max(1024).optional() }),
  result: z.object({ local_path: z.string(), file_size_mb: z.number(), checksum: z.string() }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

const generateTilingScheme = defineContract({
  name: "raster.generate_tiling_scheme",
  description: "Cuts a large raster into a grid of windows that can be processed apart.",
  params: z.strictObject({
    ...source,
    tile_size_mb: z.number().min(1).max(10_000).default(50),
    target_crs: crs.optional(),
  }),
  result: z.object({
    tile_list: z.array(tile),
    tile_count: z.number().int(),
    rows: z.number().int(),
    columns: z.number().int(),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 600,
});

const tileOptions = {
  ...source,
  output_container: container.optional(),
  output_prefix: blobPath.optional(),
  target_crs: crs.optional(),
  compression: compression.optional(),
  resampling: resampling.optional(),
};

const processTile = defineContract({
  name: "raster.process_tile",
  description: "Reprojects one tile and writes it as a Cloud-Optimized GeoTIFF.",
  params: z.strictObject({ ...tileOptions, tile, tile_index: z.number().int().min(0) }),
  result: written.extend({ tile_index: z.number().int(), bounds, crs }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

const processTileBatch = defineContract({
  name: "raster.process_tile_batch",
  description: "Processes several tiles one after the other, with a checkpoint after each.",
  params: z.strictObject({ ...tileOptions, tiles: z.array(tile).min(1) }),
  result: z.object({ tiles: z.array(written), count: z.number().int() }),
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

const reproject = defineContract({
  name: "raster_reproject",
  description: "Warps a raster to another coordinate reference system.",
  params: z.strictObject({
    ...source,
    ...destination,
    source_crs: crs.optional(),
    target_crs: crs.default("EPSG:4326"),
    resampling: resampling.optional(),
  }),
  result: written.extend({ crs, bounds }),
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

const clip = defineContract({
  name: "raster_clip",
  description: "Cuts a raster to a boundary.",
  params: z.strictObject({
    ...source,
    ...destination,
    /** GeoJSON, bounds, or the path of a vector file. */
    boundary: z.union([geometry, bounds, blobPath]),
    boundary_crs: crs.default("EPSG:4326"),
  }),
  result: written.extend({ crs, bounds }),
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

const mosaic = defineContract({
  name: "raster_mosaic",
  description: "Merges rasters of one kind into one.",
  params: z.strictObject({
    blob_paths: z.array(blobPath).min(1),
    container: container.optional(),
    ...destination,
    target_crs: crs.optional(),
    resampling: resampling.optional(),
  }),
  result: written.extend({ crs, bounds }),
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

export const rasterContracts = [
  validate,
  createCog,
  blobToMount,
  generateTilingScheme,
  processTile,
  processTileBatch,
  reproject,
  clip,
  mosaic,
] as const;
