import { listH3Files } from "../../../adapters/postgres/queries/h3.ts";
import { defineHandler } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";
import { requireRun } from "./open-run.ts";

/** Handler h3_export_dataset: the compacted files, under the same names in the gold zone. */
export const exportDataset = defineHandler("h3_export_dataset", async ({ run_ids }, context) => {
  const files: string[] = [];
  let bytes = 0;
  for (const runId of run_ids) {
    const run = await requireRun(context, runId);
    const compacted = await listH3Files(requireDatabase(context), run.run_id, { compacted: true });
    for (const file of compacted) {
      if (file.row_count === 0) continue;
      const target = file.path.replace(/^silver\/h3_compact\//, "gold/h3/");
      const stored = await context.storage.copy(file.path, target);
      files.push(target);
      bytes += stored.bytes;
    }
  }
  return { files, bytes };
});
