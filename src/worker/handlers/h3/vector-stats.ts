import { cellPolygon } from "../../../adapters/h3/cell-polygon.ts";
import { cellsBelow } from "../../../adapters/h3/chunks.ts";
import type { CellMeasures } from "../../../adapters/h3/measure-features.ts";
import { createMeasures } from "../../../adapters/h3/measure-features.ts";
import { getResolution } from "h3-js";
import { columnsOf } from "../../../core/h3/columns.ts";
import { resolutionsOf } from "../../../core/h3/configuration.ts";
import type { Bounds } from "../../../core/vector/parts.ts";
import { readWkb } from "../../../core/vector/read-wkb.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { openFeatures } from "./open-features.ts";
import { requireRun } from "./open-run.ts";
import { findDone, writeChunk } from "./write-chunk.ts";

/** Handler h3_vector_stats: counts, lengths and areas of features in the cells of one chunk. */
export const vectorStats = defineHandler("h3_vector_stats", async (params, context) => {
  const run = await requireRun(context, params.run_id);
  const { h3_l3 } = params;
  if (run.kind !== "vector") {
    throw new PermanentError(`"${run.raster}" is no data set of features.`, {
      code: "RUN_NOT_FOUND",
    });
  }
  const done = await findDone(context, run, h3_l3);
  if (done !== undefined) return done;
  const { geometry, category, weight } = run.configuration;
  const resolutions = resolutionsOf(run.configuration);
  const cells = resolutions.flatMap((resolution) => [
    ...params.coarser.filter((cell) => getResolution(cell) === resolution),
    ...cellsBelow(h3_l3, resolution),
  ]);
  const features = await openFeatures(context, run.source_path);
  if (features.tag !== run.source_tag) {
    const text = `The features of "${run.raster}" have changed since the discovery: run the workflow again.`;
    throw new PermanentError(text, { code: "SOURCE_CHANGED" });
  }
  const measures = createMeasures(geometry ?? "point", cells);
  const columns = [category, weight].filter((name) => name != null);
  for await (const { wkb, properties } of features.meeting(boxesAround(cells), columns)) {
    const value = weight == null ? 0 : Number(properties[weight] ?? 0);
    measures.add({
      parts: readWkb(wkb),
      category: category == null ? undefined : textOf(properties[category]),
      weight: Number.isFinite(value) ? value : 0,
    });
  }
  const found = measures.result();
  const table = columnsOf(run);
  const rows = new Map(
    resolutions.map((resolution) => [
      resolution,
      found
        .filter(([cell]) => getResolution(cell) === resolution)
        .map(([cell, own]) => table.map(({ name }) => valueOf(name, cell, resolution, own))),
    ]),
  );
  return writeChunk(context, run, h3_l3, table, rows);
});

function valueOf(name: string, cell: string, resolution: number, measures: CellMeasures): unknown {
  switch (name) {
    case "h3_index":
      return cell;
    case "resolution":
      return resolution;
    case "count":
      return measures.count;
    case "sum":
      return measures.sum;
    case "categories":
      return Object.fromEntries(
        [...measures.categories].toSorted(([one], [other]) => (one < other ? -1 : 1)),
      );
    default:
      return measures.measure;
  }
}

function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "bigint") return String(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The box around all cells: two where it crosses the antimeridian. */
function boxesAround(cells: readonly string[]): Bounds[] {
  let [west, south, east, north] = [Infinity, 90, -Infinity, -90];
  for (const cell of cells) {
    const [ring = []] = cellPolygon(cell);
    const turn = west === Infinity ? 0 : 360 * Math.round((west - (ring[0]?.[0] ?? 0)) / 360);
    for (const [lon = 0, lat = 0] of ring) {
      [west, east] = [Math.min(west, lon + turn), Math.max(east, lon + turn)];
      [south, north] = [Math.min(south, lat), Math.max(north, lat)];
    }
  }
  if (east - west >= 360) return [[-180, south, 180, north]];
  const shift = west < -180 ? 360 : 0;
  const [left, right] = [west + shift, east + shift];
  if (right <= 180) return [[left, south, right, north]];
  return [
    [left, south, 180, north],
    [-180, south, right - 360, north],
  ];
}
