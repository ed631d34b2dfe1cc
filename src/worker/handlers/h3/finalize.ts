import { stat } from "node:fs/promises";
import { createHash } from "node:crypto";
import { readColumns } from "../../../adapters/parquet/read-table.ts";
import type { TableColumn } from "../../../adapters/parquet/write-table.ts";
import { openTable } from "../../../adapters/parquet/write-table.ts";
import type { H3FileRow } from "../../../adapters/postgres/queries/h3.ts";
import { listH3Files } from "../../../adapters/postgres/queries/h3.ts";
import type { ManifestEntry } from "../../../adapters/postgres/repositories/h3.ts";
import { finishH3Run, recordH3Files } from "../../../adapters/postgres/repositories/h3.ts";
import { columnsOf } from "../../../core/h3/columns.ts";
import { chunkResolution, compactPath, resolutionsOf } from "../../../core/h3/configuration.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { hashFile } from "../hash-content.ts";
import { temporaryFile } from "../raster/run-gdal.ts";
import { requireDatabase } from "../require-database.ts";
import type { OpenRun } from "./open-run.ts";
import { requireRun } from "./open-run.ts";

/**
 * Rows of one group of a compacted file, about. The worker holds a group and what encoding it takes: 239 MB
 * in all with 30,000 rows of nine columns, 395 with 100,000, in the same time and at the same size.
 */
const rowsAtOnce = 30_000;

/** Handler h3_finalize: no chunk is missing, and one file for each resolution holds all of them. */
export const finalizeRuns = defineHandler("h3_finalize", async ({ run_ids }, context) => {
  const database = requireDatabase(context);
  const files: ManifestEntry[] = [];
  const findings: OpenRun["findings"][number][] = [];
  for (const [index, runId] of run_ids.entries()) {
    const run = await requireRun(context, runId);
    await requireAll(context, run);
    const made = await compact(context, run);
    await recordH3Files(database, runId, made);
    const rows = made.reduce((sum, { row_count }) => sum + row_count, 0);
    const own = run.findings.filter(({ code }) => code !== "NO_ROWS");
    const empty = { code: "NO_ROWS", message: `No cell of "${run.raster}" has data.` };
    const all = rows === 0 && run.chunk_count > 0 ? [...own, empty] : own;
    await finishH3Run(database, runId, rows, all);
    findings.push(...all);
    files.push(...made);
    context.progress((100 * (index + 1)) / run_ids.length);
  }
  const row_count = files.reduce((sum, file) => sum + file.row_count, 0);
  const hashes = files.map(({ path, sha256 }) => `${path} ${sha256}`).toSorted();
  const sha256 = createHash("sha256").update(hashes.join("\n")).digest("hex");
  return {
    run_ids,
    row_count,
    content_hash: `1220${sha256}`,
    files: files.map(({ path, resolution, row_count: rows }) => ({
      path,
      resolution,
      row_count: rows,
    })),
    findings,
  };
});

async function requireAll(context: HandlerContext, run: OpenRun): Promise<void> {
  const found = new Set<string | null>();
  for (const resolution of resolutionsOf(run.configuration)) {
    for (const { h3_l3 } of await listChunks(context, run, resolution)) found.add(h3_l3);
  }
  if (found.size === run.chunk_count) return;
  throw new PermanentError(
    `${run.chunk_count - found.size} of ${run.chunk_count} chunks of "${run.raster}" are not computed: run the workflow again, it computes what is missing.`,
    { code: "CHUNKS_MISSING" },
  );
}

/** The files of one resolution at a time: those of all would be a hundred thousand rows for all land. */
async function listChunks(
  context: HandlerContext,
  { run_id }: OpenRun,
  resolution: number,
): Promise<readonly H3FileRow[]> {
  const files = await listH3Files(requireDatabase(context), run_id, { resolutions: [resolution] });
  return files.filter(({ h3_l3 }) => h3_l3 !== null);
}

async function compact(context: HandlerContext, run: OpenRun): Promise<ManifestEntry[]> {
  const columns = columnsOf(run);
  const made: ManifestEntry[] = [];
  for (const resolution of resolutionsOf(run.configuration)) {
    const chunks = await listChunks(context, run, resolution);
    const own = chunks.filter((file) => file.row_count > 0);
    const row_count = own.reduce((sum, file) => sum + file.row_count, 0);
    const path = compactPath({ ...run, resolution });
    const entry = { path, resolution, h3_l3: null, row_count };
    if (row_count === 0) {
      await context.storage.delete(path);
      made.push({ ...entry, bytes: 0, sha256: createHash("sha256").digest("hex") });
      continue;
    }
    const file = temporaryFile(context, "compact.parquet");
    await writeAll(context, file, columns, own, resolution < chunkResolution);
    const { size } = await stat(file);
    const sha256 = (await hashFile(file, context.signal)).slice("1220".length);
    await context.storage.putFile(path, file, { signal: context.signal });
    made.push({ ...entry, bytes: size, sha256 });
  }
  return made;
}

/**
 * Chunks come in ascending order, and so do the cells below them. Cells that are coarser than a
 * chunk are few and do not: they are sorted in memory.
 */
async function writeAll(
  context: HandlerContext,
  file: string,
  columns: readonly TableColumn[],
  chunks: readonly H3FileRow[],
  sorts: boolean,
): Promise<void> {
  const table = openTable(file, columns);
  const names = columns.map(({ name }) => name);
  let values = columns.map((): unknown[] => []);
  const rows = () => values[0]?.length ?? 0;
  const flush = async () => {
    await table.write(values);
    values = columns.map(() => []);
  };
  for (const { path, bytes } of chunks) {
    context.signal.throwIfAborted();
    const found = await readColumns(context.storage, path, bytes, names);
    // Chunks of coarse cells have few rows: copying the columns for each would take minutes for all land.
    for (const [index, column] of values.entries()) {
      for (const value of found[index] ?? []) column.push(value);
    }
    if (!sorts && rows() >= rowsAtOnce) await flush();
  }
  if (sorts) values = sortBy(values, names.indexOf("h3_index"));
  if (rows() > 0) await flush();
  await table.close();
}

/** The rows in the ascending order of one column of texts. */
function sortBy(values: readonly (readonly unknown[])[], key: number): unknown[][] {
  const keys = (values[key] ?? []).map(String);
  const order = [...keys.keys()].sort((a, b) => ((keys[a] ?? "") < (keys[b] ?? "") ? -1 : 1));
  return values.map((column) => order.map((row) => column[row]));
}
