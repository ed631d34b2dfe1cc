import { knownPaths } from "../../../adapters/postgres/queries/catalogue-sources.ts";
import { defineHandler } from "../../define-handler.ts";
import { demandDatabase } from "./demand-database.ts";

/** What the platform made can be made again; what came in, and what the public has, cannot. */
const ours = /^(?:silver|gold)\//;

export const deleteFiles = defineHandler("stac.delete_files", async ({ paths }, context) => {
  const used = await knownPaths(demandDatabase(context), paths);
  const kept = paths.filter((path) => used.has(path) || !ours.test(path));
  const deleted: string[] = [];
  const missing: string[] = [];
  for (const path of paths.filter((each) => !kept.includes(each))) {
    context.signal.throwIfAborted();
    ((await context.storage.delete(path)) ? deleted : missing).push(path);
  }
  return { deleted, missing, kept };
});
