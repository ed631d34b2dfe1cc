import { cellToChildren, getResolution } from "h3-js";
import { cellsBelow } from "../../../adapters/h3/chunks.ts";
import { readTable } from "../../../adapters/parquet/read-table.ts";
import { listH3Files } from "../../../adapters/postgres/queries/h3.ts";
import { columnsOf } from "../../../core/h3/columns.ts";
import type { FrozenCombination } from "../../../core/h3/combination.ts";
import { formulasOf } from "../../../core/h3/combination.ts";
import { columnOf } from "../../../core/h3/combine.ts";
import { chunkResolution, resolutionsOf } from "../../../core/h3/configuration.ts";
import type { ReadValue } from "../../../core/h3/formula.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { requireRun } from "./open-run.ts";
import { findDone, writeChunk } from "./write-chunk.ts";

/** The values of cells by name of the data set, then by cell. */
type Values = ReadonlyMap<string, ReadonlyMap<string, Readonly<Record<string, unknown>>>>;

/** Handler h3_weighted_aggregation: the cells of one chunk, computed of those of other data sets. */
export const weightedAggregation = defineHandler(
  "h3_weighted_aggregation",
  async (params, context) => {
    const run = await requireRun(context, params.run_id);
    const { h3_l3, coarser } = params;
    if (run.kind !== "combined") {
      throw new PermanentError(`"${run.raster}" is not made of data sets.`, {
        code: "RUN_NOT_FOUND",
      });
    }
    const done = await findDone(context, run, h3_l3);
    if (done !== undefined) return done;
    const { configuration } = run;
    const { columns, cells: wanted, max_resolution } = configuration;
    const computed = columns.map(columnOf);
    const needsFinest = columns.some((column) => "mean_of" in column);
    const table = columnsOf(run);
    const rows = new Map<number, unknown[][]>();
    for (const resolution of resolutionsOf(configuration)) {
      context.signal.throwIfAborted();
      const cells = [
        ...coarser.filter((cell) => getResolution(cell) === resolution),
        ...cellsBelow(h3_l3, resolution),
      ];
      const values = await readValues(context, configuration, resolution, [h3_l3]);
      const finest = needsFinest
        ? await readValues(context, configuration, max_resolution, chunksBelow(cells, h3_l3))
        : values;
      const own: unknown[][] = [];
      for (const cell of cells) {
        const has = [...values.values()].filter((each) => each.has(cell)).length;
        if (wanted === "all" ? has < values.size : has === 0) continue;
        const below = () =>
          cellToChildren(cell, max_resolution).map((child) => readerOf(finest, child));
        const made = computed.map((compute) => compute(readerOf(values, cell), below));
        if (made.every((value) => value === undefined)) continue;
        own.push([cell, resolution, ...made]);
      }
      rows.set(resolution, own);
    }
    return writeChunk(context, run, h3_l3, table, rows);
  },
);

function readerOf(values: Values, cell: string): ReadValue {
  return (name) => {
    const [alias = "", column = ""] = name.split(".");
    const value = values.get(alias)?.get(cell)?.[column];
    return typeof value === "number" ? value : undefined;
  };
}

/** Cells that are coarser than a chunk reach over several. */
function chunksBelow(cells: readonly string[], chunk: string): string[] {
  const coarse = cells.filter((cell) => getResolution(cell) < chunkResolution);
  if (coarse.length === 0) return [chunk];
  return coarse.flatMap((cell) => cellToChildren(cell, chunkResolution)).toSorted();
}

/** From the files of these chunks; cells that are coarser than a chunk from the compacted file. */
async function readValues(
  context: HandlerContext,
  { runs, columns }: FrozenCombination,
  resolution: number,
  chunks: readonly string[],
): Promise<Values> {
  const used = new Set(columns.flatMap((each) => formulasOf(each).flatMap((f) => [...f.columns])));
  const made = new Map<string, Map<string, Readonly<Record<string, unknown>>>>();
  for (const [alias, runId] of Object.entries(runs)) {
    const names = [...used]
      .filter((name) => name.startsWith(`${alias}.`))
      .map((name) => name.slice(alias.length + 1));
    const own = new Map<string, Readonly<Record<string, unknown>>>();
    made.set(alias, own);
    const files = await listH3Files(requireDatabase(context), runId, {
      resolutions: [resolution],
      ...(resolution < chunkResolution ? { compacted: true } : { chunks }),
    });
    for (const { path, bytes } of files) {
      if (bytes === 0) continue;
      for (const row of await readTable(context.storage, path, bytes, ["h3_index", ...names])) {
        own.set(String(row["h3_index"]), row);
      }
    }
  }
  return made;
}
