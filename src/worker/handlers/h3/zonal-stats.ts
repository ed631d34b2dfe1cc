import { createHash } from "node:crypto";
import { computeChunk } from "../../../adapters/h3/compute-chunk.ts";
import { tableBytes } from "../../../adapters/parquet/write-table.ts";
import { listH3Files } from "../../../adapters/postgres/queries/h3.ts";
import type { H3RunRow } from "../../../adapters/postgres/queries/h3.ts";
import type { ManifestEntry } from "../../../adapters/postgres/repositories/h3.ts";
import { recordH3Files } from "../../../adapters/postgres/repositories/h3.ts";
import { chunkPath, resolutionsOf } from "../../../core/h3/configuration.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";
import { openStored, requireRun } from "./open-run.ts";
import { columnData, columnsOf } from "./table-columns.ts";

/**
 * Handler h3_zonal_stats: one chunk, one file for each resolution. Files are recorded after they were
 * written; a task that was interrupted writes the same bytes to the same paths again.
 */
export const zonalStats = defineHandler("h3_zonal_stats", async (params, context) => {
  const run = await requireRun(context, params.run_id);
  const { h3_l3 } = params;
  const done = await findDone(context, run, h3_l3);
  if (done !== undefined) {
    const row_count = done.reduce((sum, file) => sum + file.row_count, 0);
    const file_count = done.filter(({ bytes }) => bytes > 0).length;
    return { h3_l3, row_count, file_count, reused: true };
  }
  const raster = await openStored(context.storage, run.source_path, run.wkt2);
  const found = await computeChunk(raster, params, run.configuration, {
    signal: context.signal,
    onPart: (share) => {
      context.progress(95 * share);
    },
  });
  const columns = columnsOf(run.configuration);
  const files: ManifestEntry[] = [];
  for (const [resolution, rows] of found) {
    const path = chunkPath({ ...run, resolution }, h3_l3);
    const row_count = rows.length;
    const bytes =
      row_count === 0
        ? new Uint8Array()
        : tableBytes(columns, columnData(columns, rows, resolution));
    if (row_count === 0) await context.storage.delete(path);
    else await context.storage.put(path, bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    files.push({ path, resolution, h3_l3, row_count, bytes: bytes.length, sha256 });
  }
  await recordH3Files(requireDatabase(context), run.run_id, files);
  const row_count = files.reduce((sum, file) => sum + file.row_count, 0);
  const file_count = files.filter(({ bytes }) => bytes > 0).length;
  return { h3_l3, row_count, file_count, reused: false };
});

/** The recorded files of the chunk, if all of them are in storage. */
async function findDone(
  context: HandlerContext,
  { run_id, configuration }: H3RunRow,
  chunk: string,
) {
  const files = await listH3Files(requireDatabase(context), run_id, { chunk });
  if (files.length !== resolutionsOf(configuration).length) return undefined;
  for (const { path, bytes } of files) {
    if (bytes === 0) continue;
    if ((await context.storage.head(path))?.bytes !== bytes) return undefined;
  }
  return files;
}
