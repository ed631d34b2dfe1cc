import { computeChunk } from "../../../adapters/h3/compute-chunk.ts";
import type { CellRow } from "../../../adapters/h3/compute-chunk.ts";
import { columnsOf } from "../../../core/h3/columns.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { openStored, requireRun } from "./open-run.ts";
import { findDone, writeChunk } from "./write-chunk.ts";

/** Handler h3_zonal_stats: the statistics of a raster in the cells of one chunk. */
export const zonalStats = defineHandler("h3_zonal_stats", async (params, context) => {
  const run = await requireRun(context, params.run_id);
  const { h3_l3 } = params;
  if (run.kind !== "raster") {
    throw new PermanentError(`"${run.raster}" is no raster.`, { code: "RUN_NOT_FOUND" });
  }
  const done = await findDone(context, run, h3_l3);
  if (done !== undefined) return done;
  const raster = await openStored(context.storage, run.source_path, run.wkt2);
  const found = await computeChunk(raster, params, run.configuration, {
    signal: context.signal,
    onPart: (share) => {
      context.progress(95 * share);
    },
  });
  const columns = columnsOf(run);
  const rows = new Map(
    [...found].map(([resolution, cells]) => [
      resolution,
      cells.map((row) => columns.map(({ name }) => valueOf(name, row, resolution))),
    ]),
  );
  return writeChunk(context, run, h3_l3, columns, rows);
});

function valueOf(name: string, { cell, values }: CellRow, resolution: number): unknown {
  if (name === "h3_index") return cell;
  if (name === "resolution") return resolution;
  // An object of JSON with the categories in ascending order.
  if (name === "histogram") return Object.fromEntries(values.histogram);
  return values[name as "mean"] ?? undefined;
}
