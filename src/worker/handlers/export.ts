import { createHash } from "node:crypto";
import { defineHandler } from "../define-handler.ts";
import { PermanentError, TransientError } from "../errors.ts";

/**
 * Copies a file to the external zone. Each revision has its own path, so a client that downloads
 * the old revision during the copy gets it whole. A repeated task writes the same bytes to the same
 * path.
 */
export const copyExternal = defineHandler("export.copy_external", async (params, context) => {
  const { asset_id, version_ordinal, revision, blob_path } = params;
  const { storage, logger, task_id } = context;
  const found = await storage.head(blob_path);
  if (found === undefined) {
    throw new PermanentError(`There is nothing at ${blob_path} to export.`, {
      code: "BLOB_NOT_FOUND",
    });
  }
  const name = blob_path.slice(blob_path.lastIndexOf("/") + 1);
  const target = `external/${asset_id}/v${version_ordinal}/r${revision}/${name}`;
  const copied = await storage.copy(blob_path, target);
  if (copied.bytes !== found.bytes) {
    throw new TransientError(`Of ${found.bytes} bytes ${copied.bytes} were copied.`, {
      code: "COPY_INCOMPLETE",
    });
  }
  logger.info("copied to the external zone", { bytes: copied.bytes });
  // A hash: partners see the id of the run, and must not see the task id in it.
  const run = createHash("sha256").update(task_id).digest("hex").slice(0, 16);
  return { external_blob_path: target, adf_run_id: `run-${run}`, bytes: copied.bytes };
});

/**
 * Deletes a copy from the external zone. A missing file is no failure, so a repeated task succeeds.
 */
export const removeExternal = defineHandler("export.remove_external", async (params, context) => {
  const { external_blob_path } = params;
  if (!external_blob_path.startsWith("external/")) {
    throw new PermanentError(`${external_blob_path} is not in the external zone.`, {
      code: "NOT_EXTERNAL",
    });
  }
  return { external_blob_path, removed: await context.storage.delete(external_blob_path) };
});
