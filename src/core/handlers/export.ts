import { z } from "zod";
import { assetId } from "../model/asset.ts";
import { queueFor } from "../queues.ts";
import { defineContract } from "./contract.ts";
import { blobPath } from "./geospatial.ts";

const copyExternal = defineContract({
  name: "export.copy_external",
  description: "Copies a version's file to the external zone, which the public reads.",
  params: z.strictObject({
    asset_id: assetId,
    version_ordinal: z.number().int().min(0),
    revision: z.number().int().min(1),
    blob_path: blobPath,
  }),
  result: z.object({
    external_blob_path: z.string(),
    adf_run_id: z.string(),
    bytes: z.number().int().min(0),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

const removeExternal = defineContract({
  name: "export.remove_external",
  description: "Removes files that are no longer public from the external zone.",
  params: z.strictObject({ external_blob_path: blobPath }),
  result: z.object({ external_blob_path: z.string(), removed: z.boolean() }),
  queue: queueFor.light,
  timeout_seconds: 300,
});

export const exportContracts = [copyExternal, removeExternal] as const;
