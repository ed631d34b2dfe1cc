import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

/** What is gone already is gone: removing twice is removing once. */
export const removeExternal = defineHandler("export.remove_external", async (params, context) => {
  const { external_blob_path } = params;
  if (!external_blob_path.startsWith("external/")) {
    throw new PermanentError(`${external_blob_path} is not in the external zone.`, {
      code: "NOT_EXTERNAL",
    });
  }
  return { external_blob_path, removed: await context.storage.delete(external_blob_path) };
});
