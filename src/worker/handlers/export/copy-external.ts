import { createHash } from "node:crypto";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError, TransientError } from "../../errors.ts";

/**
 * Each revision has a place of its own: whoever reads the old one while the new one is copied reads
 * it whole. Repeating it writes the same bytes to the same place.
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
  // The name of this run for whoever asks; of our task nothing can be read from it.
  const run = createHash("sha256").update(task_id).digest("hex").slice(0, 16);
  return { external_blob_path: target, adf_run_id: `run-${run}`, bytes: copied.bytes };
});
