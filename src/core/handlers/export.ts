import { z } from "zod";
import { assetId } from "../model/asset.ts";
import { queueFor } from "../queues.ts";
import { exportFormatNames, highestZoom } from "../vector/export-formats.ts";
import { defineContract } from "./contract.ts";
import { blobPath } from "./geospatial.ts";

const version = {
  asset_id: assetId,
  version_ordinal: z.number().int().min(0),
  revision: z.number().int().min(1),
};

const buildPackage = defineContract({
  name: "export.build_package",
  description:
    "Writes everything that a version has to the gold zone: its rasters, its layers as GeoParquet and FlatGeobuf, a static STAC catalogue and a manifest with hashes.",
  params: z.strictObject({
    ...version,
    /** Of a version without items in the catalogue. */
    blob_path: blobPath.nullish(),
  }),
  result: z.object({
    folder: z.string(),
    manifest_path: z.string(),
    /** The raster or the GeoParquet if there is one; otherwise the manifest. Below the folder. */
    main_file: z.string(),
    file_count: z.number().int(),
    bytes: z.number().int().min(0),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 4 * 3600,
});

/** The names of the reference architecture give one file by its path, without a package. */
const copyExternal = defineContract({
  name: "export.copy_external",
  description:
    "Copies a version's package to the external zone, which the public reads: by Azure Data Factory where it is configured, otherwise file by file.",
  params: z
    .strictObject({
      ...version,
      folder: blobPath.optional(),
      main_file: z.string().min(1).max(1024).optional(),
      blob_path: blobPath.optional(),
    })
    .refine(({ folder, blob_path }) => (folder === undefined) !== (blob_path === undefined), {
      message: "needs either folder, with a package, or blob_path, with one file",
    }),
  result: z.object({
    external_blob_path: z.string(),
    /** Of Azure Data Factory; our own copy has none. */
    adf_run_id: z.string().nullable(),
    copied_by: z.enum(["data_factory", "worker"]),
    bytes: z.number().int().min(0),
  }),
  queue: queueFor.light,
  timeout_seconds: 4 * 3600,
});

const removeExternal = defineContract({
  name: "export.remove_external",
  description: "Removes a version that is no longer public from the external and the gold zone.",
  params: z
    .strictObject({
      asset_id: assetId.optional(),
      version_ordinal: z.number().int().min(0).optional(),
      /** One file, as earlier versions of the workflow name it. */
      external_blob_path: blobPath.optional(),
    })
    .refine(
      ({ asset_id, version_ordinal, external_blob_path }) =>
        (asset_id !== undefined && version_ordinal !== undefined) ||
        external_blob_path !== undefined,
      { message: "needs asset_id and version_ordinal" },
    ),
  result: z.object({
    removed: z.number().int(),
    adf_run_id: z.string().nullable(),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

const writeLayer = defineContract({
  name: "export.write_layer",
  description: "Writes the data of a version in one format, for a download.",
  params: z.strictObject({
    ...version,
    format: z.enum([...exportFormatNames, "cog"]),
    table_name: z.string().nullish(),
    blob_path: blobPath.nullish(),
    /** Of PMTiles: the highest zoom that has tiles. */
    max_zoom: highestZoom.nullish(),
  }),
  result: z.object({
    paths: z.array(z.string()),
    bytes: z.number().int().min(0),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

export const exportContracts = [buildPackage, copyExternal, removeExternal, writeLayer] as const;
