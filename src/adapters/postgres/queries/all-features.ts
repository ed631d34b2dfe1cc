import { tileNumber } from "../../../core/serving/tile-number.ts";
import type { Bounds } from "../../../core/vector/parts.ts";
import type { Queryable } from "../queryable.ts";
import { tableText } from "./feature-sql.ts";
import type { FeatureRow } from "./features.ts";
import { listFeatures } from "./features.ts";
import type { GeoTable } from "./geo-tables.ts";

const pageSize = 5000;

/** Reads all features of a layer in pages, by their numbers; for a file with all its numbers. */
export async function* allFeatures(
  db: Queryable,
  table: GeoTable,
  signal: AbortSignal,
  isForFile = false,
): AsyncGenerator<readonly FeatureRow[]> {
  let after: readonly (string | null)[] | undefined;
  for (;;) {
    signal.throwIfAborted();
    const { columns } = table;
    const query = { sort: [], columns, limit: pageSize, after, isForFile };
    const page = await listFeatures(db, table, query);
    if (page.features.length > 0) yield page.features;
    if (!page.more) return;
    after = page.features.at(-1)?.place;
  }
}

export interface PlacedFeature extends FeatureRow {
  /** Null: the geometry is empty. */
  readonly bounds: Bounds | null;
}

/**
 * Reads all features in pages whose features lie near each other: in the order of their centres on
 * a Hilbert curve. The numbers of all features are held in memory, 16 bytes each; their geometries
 * are not.
 */
export async function* featuresInSpace(
  db: Queryable,
  table: GeoTable,
  signal: AbortSignal,
): AsyncGenerator<readonly PlacedFeature[]> {
  const order = await orderInSpace(db, table, signal);
  for (let start = 0; start < order.length; start += pageSize) {
    signal.throwIfAborted();
    const ids = [...order.subarray(start, start + pageSize)];
    const query = { sort: [], columns: table.columns, limit: ids.length, ids, isForFile: true };
    const [{ features }, boxes] = await Promise.all([
      listFeatures(db, table, query),
      readBoxes(db, table, ids),
    ]);
    const rowOf = new Map(features.map((row) => [row.fid, row]));
    yield ids.flatMap((fid) => {
      const row = rowOf.get(fid);
      return row === undefined ? [] : [{ ...row, bounds: boxes.get(fid) ?? null }];
    });
  }
}

/** 65,536 columns and rows around the world. */
const curveZoom = 16;

async function orderInSpace(
  db: Queryable,
  table: GeoTable,
  signal: AbortSignal,
): Promise<Float64Array> {
  const fids = new Float64Array(table.feature_count);
  const places = new Float64Array(table.feature_count);
  let count = 0;
  let after = -1;
  for (;;) {
    signal.throwIfAborted();
    const rows = await pageOfBoxes(db, table, after);
    for (const row of rows) {
      if (count === fids.length) break;
      fids[count] = Number(row.fid);
      places[count] = placeOf(boundsOf(row));
      count++;
    }
    const last = rows.at(-1);
    if (last === undefined || count === fids.length) break;
    after = Number(last.fid);
  }
  const order = Uint32Array.from({ length: count }, (_, index) => index).sort(
    (a, b) => (places[a] ?? 0) - (places[b] ?? 0),
  );
  return Float64Array.from(order, (index) => fids[index] ?? 0);
}

/** Empty geometries come first. */
function placeOf(bounds: Bounds | null): number {
  if (bounds === null) return -1;
  const [west, south, east, north] = bounds;
  const cells = 2 ** curveZoom;
  const cell = (part: number) => Math.min(cells - 1, Math.max(0, Math.floor(part * cells)));
  const x = cell(((west + east) / 2 + 180) / 360);
  const y = cell((90 - (south + north) / 2) / 180);
  return tileNumber({ z: curveZoom, x, y });
}

interface BoxRow {
  readonly fid: string | number;
  readonly west: number | null;
  readonly south: number | null;
  readonly east: number | null;
  readonly north: number | null;
}

function boundsOf({ west, south, east, north }: BoxRow): Bounds | null {
  if (west === null || south === null || east === null || north === null) return null;
  return [west, south, east, north];
}

async function pageOfBoxes(
  db: Queryable,
  table: GeoTable,
  after: number,
): Promise<readonly BoxRow[]> {
  const { rows } = await db.query<BoxRow>(
    `${selectBoxes(table)} WHERE fid > $1 ORDER BY fid LIMIT 50000`,
    [after],
  );
  return rows;
}

async function readBoxes(
  db: Queryable,
  table: GeoTable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Bounds | null>> {
  const { rows } = await db.query<BoxRow>(`${selectBoxes(table)} WHERE fid = ANY($1::bigint[])`, [
    ids,
  ]);
  return new Map(rows.map((row) => [Number(row.fid), boundsOf(row)]));
}

function selectBoxes(table: GeoTable): string {
  const sides =
    table.form === "postgis"
      ? `ST_XMin(geom) AS west, ST_YMin(geom) AS south, ST_XMax(geom) AS east, ST_YMax(geom) AS north`
      : `(bounds[1])[0] AS west, (bounds[1])[1] AS south, (bounds[0])[0] AS east,
         (bounds[0])[1] AS north`;
  return `SELECT fid, ${sides} FROM ${tableText(table)}`;
}
