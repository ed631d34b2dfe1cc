/** Writes the files of one chunk, one for each resolution, and records them. */
import { createHash } from "node:crypto";
import { tableBytes } from "../../../adapters/parquet/write-table.ts";
import { listH3Files } from "../../../adapters/postgres/queries/h3.ts";
import type { ManifestEntry } from "../../../adapters/postgres/repositories/h3.ts";
import { recordH3Files } from "../../../adapters/postgres/repositories/h3.ts";
import type { H3Column } from "../../../core/h3/columns.ts";
import { chunkPath, resolutionsOf } from "../../../core/h3/configuration.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";
import type { OpenRun } from "./open-run.ts";

/**
 * `rows` by resolution, the values of each in the order of the columns. Files are recorded after they
 * were written; a task that was interrupted writes the same bytes to the same paths again.
 */
export async function writeChunk(
  context: HandlerContext,
  run: OpenRun,
  h3_l3: string,
  columns: readonly H3Column[],
  rows: ReadonlyMap<number, readonly (readonly unknown[])[]>,
) {
  const files: ManifestEntry[] = [];
  for (const [resolution, own] of rows) {
    const path = chunkPath({ ...run, resolution }, h3_l3);
    const row_count = own.length;
    const data = columns.map((_, index) => own.map((row) => row[index] ?? undefined));
    const bytes = row_count === 0 ? new Uint8Array() : tableBytes(columns, data);
    if (row_count === 0) await context.storage.delete(path);
    else await context.storage.put(path, bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    files.push({ path, resolution, h3_l3, row_count, bytes: bytes.length, sha256 });
  }
  await recordH3Files(requireDatabase(context), run.run_id, files);
  return { h3_l3, ...countOf(files), reused: false };
}

/** What the recorded files of the chunk hold, if all of them are in storage. */
export async function findDone(
  context: HandlerContext,
  { run_id, configuration }: OpenRun,
  chunk: string,
) {
  const resolutions = resolutionsOf(configuration);
  const wanted = { chunks: [chunk], resolutions };
  const files = await listH3Files(requireDatabase(context), run_id, wanted);
  if (files.length !== resolutions.length) return undefined;
  for (const { path, bytes } of files) {
    if (bytes === 0) continue;
    if ((await context.storage.head(path))?.bytes !== bytes) return undefined;
  }
  return { h3_l3: chunk, ...countOf(files), reused: true };
}

function countOf(files: readonly Pick<ManifestEntry, "row_count" | "bytes">[]) {
  return {
    row_count: files.reduce((sum, file) => sum + file.row_count, 0),
    file_count: files.filter(({ bytes }) => bytes > 0).length,
  };
}
