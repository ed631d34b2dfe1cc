import { z } from "zod";
import { datasetName, placeName, productName } from "../fathom/configuration.ts";
import { queueFor } from "../queues.ts";
import { defineContract } from "./contract.ts";
import { blobPath, identifier } from "./geospatial.ts";

const finding = z.object({ code: z.string(), message: z.string() });
const key = z.object({ dataset: datasetName, product: productName, place: placeName });
const made = z.object({
  ...key.shape,
  blob_path: blobPath,
  checksum: z.string(),
  /** True: the file was there already. */
  reused: z.boolean(),
});

const tileInventory = defineContract({
  name: "fathom_tile_inventory",
  description: "Finds the flood tiles whose return periods are not stacked yet, or have changed.",
  params: z.strictObject({
    dataset: datasetName,
    /** A folder in storage, such as bronze/fathom/. */
    prefix: z
      .string()
      .max(1024)
      .regex(/^[a-z]+\/./, "must begin with a zone, such as bronze/fathom/"),
    /** pattern, return_periods, grid_degrees */
    configuration: z.record(z.string(), z.json()).nullish(),
  }),
  result: z.object({
    dataset: datasetName,
    /** One for each task of a fan-out. */
    tiles: z.array(key),
    tile_count: z.number().int(),
    /** Tiles whose stack is there and needs nothing. */
    done_count: z.number().int(),
    findings: z.array(finding),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

const bandStack = defineContract({
  name: "fathom_band_stack",
  description: "Stacks the return periods of one flood tile into one COG, a band for each.",
  params: z.strictObject(key.shape),
  result: made,
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

const gridInventory = defineContract({
  name: "fathom_grid_inventory",
  description: "Finds the grid cells whose stacked tiles are not merged yet, or have changed.",
  params: z.strictObject({ dataset: datasetName }),
  result: z.object({
    dataset: datasetName,
    cells: z.array(key),
    cell_count: z.number().int(),
    done_count: z.number().int(),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

const spatialMerge = defineContract({
  name: "fathom_spatial_merge",
  description: "Merges the stacked tiles of one grid cell into one COG, band by band.",
  params: z.strictObject(key.shape),
  result: made,
  queue: queueFor.heavy,
  timeout_seconds: 14_400,
});

const stacRegister = defineContract({
  name: "fathom_stac_register",
  description: "Registers the merged flood rasters that the catalogue does not know as they are.",
  params: z.strictObject({ dataset: datasetName, collection_id: identifier }),
  result: z.object({
    collection_id: identifier,
    item_ids: z.array(identifier),
    count: z.number().int(),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

export const fathomContracts = [
  tileInventory,
  bandStack,
  gridInventory,
  spatialMerge,
  stacRegister,
] as const;
