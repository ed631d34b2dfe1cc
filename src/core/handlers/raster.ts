import { z } from "zod";
import { jsonObject } from "../model/json.ts";
import { queueFor } from "../queues.ts";
import { rasterCrs, rasterFacts, rasterType, transform, tier } from "../raster/facts.ts";
import { rasterFinding, verdict } from "../raster/finding.ts";
import { rasterTile } from "../raster/tiling.ts";
import { zonalStatistic, zonalStatistics } from "../zonal/statistics.ts";
import { defineContract } from "./contract.ts";
import {
  blobPath,
  bounds,
  compression,
  container,
  crs,
  geometry,
  resampling,
  written,
} from "./geospatial.ts";

/** Null is allowed as well as absent: a workflow passes on inputs that were not given. */
const source = {
  blob_path: blobPath,
  container: container.nullish(),
  /** Of a file of many grids, such as NetCDF; without it all on the largest grid become bands. */
  variable: z.string().min(1).max(256).nullish(),
};
const destination = {
  output_path: blobPath.nullish(),
  output_container: container.nullish(),
};

/** Facts about the file that the submitter may state. */
const description = {
  /** The CRS of a file that names none; refused if it contradicts the file. */
  source_crs: crs.nullish(),
  raster_type: rasterType.nullish(),
  nodata: z.number().nullish(),
  /** 64-bit data are refused, or stored in the smaller type that holds them. */
  allow_downcast: z.boolean().default(false),
};

const validate = defineContract({
  name: "raster.validate",
  description:
    "Opens a raster, reads every block of it once, and says whether it can be processed.",
  params: z.strictObject({
    ...source,
    ...description,
    tier: tier.default("analysis"),
    /** Refused here if the type cannot have it. */
    compression: compression.nullish(),
    /** The time of the item, refused here if it is no instant. */
    datetime: z.iso.datetime({ offset: true }).nullish(),
    strict: z.boolean().default(false),
    max_nodata_percent: z.number().min(1).max(100).default(99),
    /** fail: a rejected raster fails the task. report: the verdict is the result. */
    on_reject: z.enum(["fail", "report"]).default("fail"),
  }),
  result: z.object({
    blob_path: z.string(),
    /** The same path, under the name that workflows of the existing platform read. */
    blob_url: z.string(),
    file_size_mb: z.number().min(0),
    size_mb: z.number().min(0),
    /** Size of the uncompressed pixels. */
    raw_size_mb: z.number().min(0),
    verdict,
    findings: z.array(rasterFinding),
    crs: z.string().nullable(),
    crs_definition: rasterCrs.nullable(),
    bounds: bounds.nullable(),
    transform: transform.nullable(),
    width: z.number().int(),
    height: z.number().int(),
    band_count: z.number().int(),
    dtype: z.string(),
    nodata: z.union([z.number(), z.string()]).nullable(),
    is_cog: z.boolean(),
    raster_type: rasterType,
    /** False for a raster across 180°, which cannot be cut along the tiles of web maps. */
    can_visualize: z.boolean(),
    /** Multihash of the file's content. */
    content_hash: z.string(),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

const encoding = {
  compression: compression.nullish(),
  quality: z.number().int().min(1).max(100).nullish(),
  block_size: z.union([z.literal(256), z.literal(512), z.literal(1024)]).nullish(),
  resampling: resampling.nullish(),
  overview_resampling: resampling.nullish(),
};

const cogResult = written.extend({
  crs: z.string(),
  bounds,
  band_count: z.number().int(),
  checksum: z.string(),
  facts: rasterFacts,
});

const createCog = defineContract({
  name: "raster.create_cog",
  description:
    "Makes a Cloud-Optimized GeoTIFF, reprojected on the way if asked to, and checks it.",
  params: z.strictObject({
    ...source,
    ...destination,
    ...description,
    ...encoding,
    tier: tier.default("analysis"),
    /** Without a target the raster keeps its CRS. */
    target_crs: crs.nullish(),
  }),
  result: cogResult.extend({
    /** The file that it was made from. */
    source_path: z.string(),
    /** copy: the source was a good COG already, and no byte was changed. */
    action: z.enum(["copy", "encode"]),
    tier,
    /** Defects that were repaired. */
    findings: z.array(rasterFinding),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

const blobToMount = defineContract({
  name: "raster.blob_to_mount",
  description: "Copies a file from storage to the worker's local mount.",
  params: z.strictObject({ ...source, mount_path: z.string().min(1).max(1024).nullish() }),
  result: z.object({ local_path: z.string(), file_size_mb: z.number(), checksum: z.string() }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

const grid = {
  source_crs: crs.nullish(),
  target_crs: crs.nullish(),
  raster_type: rasterType.nullish(),
  resampling: resampling.nullish(),
  nodata: z.number().nullish(),
};

const generateTilingScheme = defineContract({
  name: "raster.generate_tiling_scheme",
  description: "Cuts the output of a large raster into windows that are made separately.",
  params: z.strictObject({
    ...source,
    ...grid,
    /** Size of a tile's uncompressed pixels. */
    tile_size_mb: z.number().min(0.1).max(10_000).default(50),
    /** Number of tiles in one task; `batches` holds lists of that many. */
    batch_size: z.number().int().min(1).max(1000).default(1),
  }),
  result: z.object({
    tile_list: z.array(rasterTile),
    batches: z.array(z.array(rasterTile)),
    tile_count: z.number().int(),
    rows: z.number().int(),
    columns: z.number().int(),
    width: z.number().int(),
    height: z.number().int(),
    crs: z.string(),
    transform,
    bounds,
  }),
  queue: queueFor.heavy,
  timeout_seconds: 600,
});

const tileOptions = {
  ...source,
  ...grid,
  ...encoding,
  output_container: container.nullish(),
  output_prefix: blobPath.nullish(),
};

const tileResult = cogResult.extend({
  tile_index: z.number().int(),
  window: rasterTile.shape.window,
  /** True if the tile existed already and was not made again. */
  reused: z.boolean(),
});

const processTile = defineContract({
  name: "raster.process_tile",
  description: "Makes one tile of a raster's output as a Cloud-Optimized GeoTIFF.",
  params: z.strictObject({ ...tileOptions, tile: rasterTile, tile_index: z.number().int().min(0) }),
  result: tileResult,
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

const processTileBatch = defineContract({
  name: "raster.process_tile_batch",
  description: "Makes several tiles one after the other, with a checkpoint after each.",
  params: z.strictObject({ ...tileOptions, tiles: z.array(rasterTile).min(1) }),
  result: z.object({ tiles: z.array(tileResult), count: z.number().int() }),
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

const reproject = defineContract({
  name: "raster_reproject",
  description: "Warps a raster to another coordinate reference system.",
  params: z.strictObject({
    ...source,
    ...destination,
    ...description,
    target_crs: crs.default("EPSG:4326"),
    resampling: resampling.nullish(),
  }),
  result: cogResult,
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
  result: cogResult,
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

const mosaic = defineContract({
  name: "raster_mosaic",
  description: "Merges rasters of one kind into one.",
  params: z
    .strictObject({
      blob_paths: z.array(blobPath).min(1).max(10_000).nullish(),
      container: container.nullish(),
      /** Outputs of the nodes that wrote the tiles. */
      tiles: z
        .array(z.looseObject({ blob_path: blobPath }))
        .min(1)
        .max(10_000)
        .nullish(),
      ...destination,
      target_crs: crs.nullish(),
      resampling: resampling.nullish(),
      raster_type: rasterType.nullish(),
    })
    .refine(({ blob_paths, tiles }) => (blob_paths == null) !== (tiles == null), {
      message: "needs either blob_paths or tiles",
    }),
  result: cogResult,
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

const checkHomogeneity = defineContract({
  name: "raster.check_homogeneity",
  description: "Refuses rasters that cannot be one collection: bands, type, CRS, resolution, kind.",
  params: z.strictObject({
    /** Results of raster.validate. */
    members: z
      .array(
        z.looseObject({
          blob_path: z.string(),
          band_count: z.number().int(),
          dtype: z.string(),
          crs_definition: rasterCrs.nullable(),
          transform: transform.nullable(),
          raster_type: rasterType,
          content_hash: z.string().nullish(),
        }),
      )
      .min(1),
  }),
  result: z.object({
    count: z.number().int(),
    crs: z.string().nullable(),
    dtype: z.string(),
    band_count: z.number().int(),
    raster_type: rasterType,
    /** Multihash of the members' hashes in their order; null if one of them is unknown. */
    content_hash: z.string().nullable(),
  }),
  queue: queueFor.light,
  timeout_seconds: 120,
});

const statistic = z.number().nullable();

const statsZonal = defineContract({
  name: "stats_zonal",
  description:
    "Computes statistics of a raster in each of several areas; a pixel counts by its exact share.",
  params: z
    .strictObject({
      ...source,
      /** A GeoJSON geometry, feature or feature collection, or the path of a vector file. */
      zones: z.union([z.looseObject({ type: z.string() }), blobPath]).nullish(),
      /** Of GeoJSON; a vector file names its own. */
      zones_crs: crs.default("EPSG:4326"),
      /** The features of a published layer are the areas. */
      zones_table: z.string().min(1).max(63).nullish(),
      band: z.number().int().min(1).max(10_000).default(1),
      /** Count, sum, mean, min, max and std are always there. */
      statistics: z.array(zonalStatistic).max(zonalStatistics.length).default(["median"]),
    })
    .refine(({ zones, zones_table }) => (zones == null) !== (zones_table == null), {
      message: "needs either zones or zones_table",
    }),
  result: z.object({
    blob_path: z.string(),
    band: z.number().int(),
    count: z.number().int(),
    /** In the order of the areas. Null: no pixel with data lies in the area. */
    zones: z.array(
      z.object({
        index: z.number().int(),
        properties: jsonObject,
        /** The sum of the shares of all pixels with data. */
        count: z.number(),
        sum: statistic,
        mean: statistic,
        min: statistic,
        max: statistic,
        /** Of the population. */
        std: statistic,
        median: statistic.optional(),
        majority: statistic.optional(),
        /** By value: the sum of the shares of its pixels. */
        histogram: z.record(z.string(), z.number()).optional(),
      }),
    ),
  }),
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
  checkHomogeneity,
  reproject,
  clip,
  mosaic,
  statsZonal,
] as const;
