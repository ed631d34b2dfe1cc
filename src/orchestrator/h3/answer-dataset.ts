/** Answers the values of a data set by H3 cell from its Parquet files. */
import { cellMayOverlap, chunksNear } from "../../adapters/h3/chunks.ts";
import type { Caller } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { readTable } from "../../adapters/parquet/read-table.ts";
import { tableBytes } from "../../adapters/parquet/write-table.ts";
import type { H3RunRow } from "../../adapters/postgres/queries/h3.ts";
import { findServedH3Run, listH3Files } from "../../adapters/postgres/queries/h3.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import { Problem } from "../../core/errors.ts";
import type { Bbox } from "../../core/geometry/geometry.ts";
import type { H3Column, H3Computation } from "../../core/h3/columns.ts";
import { columnsOf } from "../../core/h3/columns.ts";
import { chunkResolution, resolutionsOf } from "../../core/h3/configuration.ts";
import { hiddenOrMissing, requireItem, viewerOf } from "../layers/check-clearance.ts";

interface DatasetRequest {
  readonly params: { readonly dataset: string };
  readonly query: {
    readonly bbox?: Bbox | undefined;
    readonly resolution?: number | undefined;
    readonly stat?: string | undefined;
    readonly period?: string | undefined;
    readonly f: "json" | "csv" | "parquet";
    readonly limit: number;
  };
  readonly caller: Caller | undefined;
}

type Row = Record<string, unknown>;

export async function answerDataset(
  { db, storage }: { readonly db: Queryable; readonly storage: Storage },
  { params: { dataset }, query, caller }: DatasetRequest,
): Promise<Answer> {
  const run = await findServedH3Run(db, dataset, query.period);
  if (run?.collection_id == null || run.item_id === null) {
    const detail = `There is no data set "${dataset}"${query.period === undefined ? "" : ` of ${query.period}`}.`;
    throw hiddenOrMissing(viewerOf(caller), "LAYER_NOT_FOUND", detail);
  }
  const params = { collection_id: run.collection_id, item_id: run.item_id };
  await requireItem(db, { params, caller });
  const resolution = chooseResolution(run, query.resolution);
  const columns = chooseColumns(run, query.stat);
  const rows = await readCells(db, storage, run, { ...query, resolution, columns });
  const headers = { "cache-control": "private, no-cache" };
  if (query.f === "json") {
    const { period } = run;
    const body = { dataset, period, resolution, count: rows.length, cells: rows };
    return new Answer(JSON.stringify(body), { headers });
  }
  const name = `attachment; filename="${dataset}-${resolution}.${query.f}"`;
  const named = { ...headers, "content-disposition": name };
  if (query.f === "csv") {
    const text = toCsv(columns, rows);
    return new Answer(text, { headers: { ...named, "content-type": "text/csv; charset=utf-8" } });
  }
  const data = columns.map((column) => rows.map((row) => row[column.name] ?? undefined));
  const type = { "content-type": "application/vnd.apache.parquet" };
  return new Answer(tableBytes(columns, data), { headers: { ...named, ...type } });
}

function chooseResolution({ configuration }: H3RunRow, wanted: number | undefined): number {
  const known = resolutionsOf(configuration);
  const chosen = wanted ?? known[0] ?? 0;
  if (known.includes(chosen)) return chosen;
  const range = `${configuration.min_resolution} to ${configuration.max_resolution}`;
  throw new Problem("BAD_REQUEST", `The data set has the resolutions ${range}, not ${chosen}.`);
}

function chooseColumns(run: H3RunRow, stat: string | undefined): H3Column[] {
  const [cell, resolution, ...values] = columnsOf(run as H3Computation);
  const chosen = values.filter(({ name }) => stat === undefined || name === stat);
  if (cell !== undefined && resolution !== undefined && chosen.length > 0) {
    return [cell, resolution, ...chosen];
  }
  const known = values.map(({ name }) => name).join(", ");
  throw new Problem("BAD_REQUEST", `The data set has ${known}, and not ${stat ?? ""}.`);
}

/** A compacted file of so many rows is read whole: chunks of few rows would be many files. */
const mostWhole = 50_000;

/** Only the chunks that overlap the box are read; without a box, and of few rows, the compacted file. */
export async function readCells(
  db: Queryable,
  storage: Storage,
  { run_id }: H3RunRow,
  wanted: {
    readonly bbox?: Bbox | undefined;
    readonly resolution: number;
    readonly columns: readonly H3Column[];
    readonly limit: number;
  },
): Promise<Row[]> {
  const { bbox, resolution, columns, limit } = wanted;
  const resolutions = [resolution];
  const [compacted] = await listH3Files(db, run_id, { compacted: true, resolutions });
  const isWhole =
    bbox === undefined ||
    resolution < chunkResolution ||
    (compacted !== undefined && compacted.row_count <= mostWhole);
  const files = isWhole
    ? [compacted]
    : await listH3Files(db, run_id, { chunks: chunksNear(widen(bbox)), resolutions });
  const names = columns.map(({ name }) => name);
  const rows: Row[] = [];
  for (const file of files) {
    if (file === undefined || file.row_count === 0) continue;
    const { path, bytes, row_count } = file;
    if (isWhole && bbox === undefined && row_count > limit) throw tooMany(limit);
    for (const row of await readTable(storage, path, bytes, names)) {
      if (bbox !== undefined && !cellMayOverlap(String(row["h3_index"]), bbox)) continue;
      rows.push(Object.fromEntries(names.map((name) => [name, row[name] ?? null])));
      if (rows.length > limit) throw tooMany(limit);
    }
  }
  return rows;
}

/** Cells reach a little beyond the cell of resolution 3 that they belong to. */
function widen([west, south, east, north]: Bbox): Bbox {
  const by = 0.5;
  if (east - west > 358) return [-180, Math.max(-90, south - by), 180, Math.min(90, north + by)];
  return [west - by, Math.max(-90, south - by), east + by, Math.min(90, north + by)];
}

function tooMany(limit: number): Problem {
  return new Problem(
    "BAD_REQUEST",
    `There are more than ${limit} cells: ask for a smaller bbox, a coarser resolution, or read the Parquet files of the item.`,
  );
}

function toCsv(columns: readonly H3Column[], rows: readonly Row[]): string {
  const cell = (value: unknown) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "string") return value;
    if (typeof value !== "object") return JSON.stringify(value);
    return `"${JSON.stringify(value).replaceAll('"', '""')}"`;
  };
  const lines = rows.map((row) => columns.map(({ name }) => cell(row[name])).join(","));
  return `${[columns.map(({ name }) => name).join(","), ...lines].join("\n")}\n`;
}
