/** Reads vector tiles: encoded by PostGIS, or as features for our own encoder. */
import { createHash } from "node:crypto";
import { escapeIdentifier } from "pg";
import type { Bbox } from "../../../core/geometry/geometry.ts";
import type { GeoColumn } from "../../../core/vector/geo-table.ts";
import type { Queryable } from "../queryable.ts";
import type { KnownItem } from "./catalogue-items.ts";
import { isUnchanged } from "./catalogue-items.ts";
import { Conditions } from "./conditions.ts";
import { readValue, selectColumn, tableText, boundsCondition } from "./feature-sql.ts";
import type { FeatureRow } from "./features.ts";
import type { GeoTable } from "./geo-tables.ts";
import { isSameLoad } from "./geo-tables.ts";

export interface TileQuery {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  readonly extent: number;
  readonly buffer: number;
  readonly layer: string;
  readonly mostFeatures: number;
  readonly columns: readonly GeoColumn[];
}

/** The circumference of the Earth; details below half a unit of the tile cannot be seen. */
const worldMetres = 40_075_016.685_578_5;

/** Simplifying shapes of fewer positions takes longer than encoding them. */
const fewPositions = 50;

/**
 * Makes a tile in PostGIS; undefined if the `item` that shows the table, or the table, is no longer what
 * was read: hidden from its viewer, changed, or loaded again. `reach` is the tile with its buffer in degrees: PostGIS would turn an
 * envelope beyond 180° round, and miss what lies near the antimeridian. PostGIS drops parts smaller
 * than a unit but does not simplify lines, so ST_Simplify comes first. The statement is the same for all
 * tiles of a table, so that it is planned once.
 */
export async function postgisTile(
  db: Queryable,
  table: GeoTable,
  tile: TileQuery,
  reach: Bbox,
  item?: KnownItem,
): Promise<Uint8Array | undefined> {
  const { z, x, y, extent, buffer, layer, mostFeatures, columns } = tile;
  const tolerance = worldMetres / 2 ** z / extent / 2;
  const properties = columns.map(({ name, type }) => {
    const column = escapeIdentifier(name);
    return isPlain(type) ? column : `${column}::text AS ${column}`;
  });
  const shape =
    table.geometry_type === "MultiPoint"
      ? "ST_Transform(geom, 3857)"
      : `CASE WHEN ST_NPoints(geom) < ${fewPositions} THEN ST_Transform(geom, 3857)
           ELSE ST_Simplify(ST_Transform(geom, 3857), bounds.tolerance, true) END`;
  const values: unknown[] = [z, x, y, extent, buffer, mostFeatures, layer, ...reach, tolerance];
  const unchanged =
    item === undefined
      ? "true"
      : `${isUnchanged(item, values)} AND ${isSameLoad(table, new Conditions(values))}`;
  // Materialized, so that the bounds are computed once and not for each feature.
  const text = `WITH bounds AS MATERIALIZED (
       SELECT ST_TileEnvelope($1, $2, $3) AS square, $12::float8 AS tolerance,
         ST_MakeEnvelope($8, $9, $10, $11, 4326) AS reach
       WHERE ${unchanged}
     ), features AS (
       SELECT ${["fid", ...properties].join(", ")},
         ST_AsMVTGeom(${shape}, bounds.square, $4::integer, $5::integer, true) AS geom
       FROM bounds, ${tableText(table)} WHERE geom && bounds.reach LIMIT $6
     )
     SELECT CASE WHEN EXISTS (SELECT FROM bounds)
       THEN ST_AsMVT(features, $7, $4::integer, 'geom', 'fid') END AS tile
     FROM features WHERE geom IS NOT NULL`;
  const { rows } = await db.query<{ tile: Buffer | null }>(
    text,
    values,
    `tile_${createHash("sha1").update(`${table.load_id} ${text}`).digest("hex")}`,
  );
  return rows[0]?.tile ?? undefined;
}

/** MVT holds text, numbers and booleans; other types become text. */
function isPlain(type: GeoColumn["type"]): boolean {
  return ["text", "boolean", "integer", "bigint", "double precision"].includes(type);
}

/** The features of a tile, including those in its buffer. */
export async function tileFeatures(
  db: Queryable,
  table: GeoTable,
  reach: Bbox,
  { columns, mostFeatures }: TileQuery,
): Promise<FeatureRow[]> {
  const conditions = new Conditions();
  conditions.always(boundsCondition(table, reach, conditions));
  const { rows } = await db.query<Record<string, unknown>>(
    `SELECT ${["fid", "geom", ...columns.map(selectColumn)].join(", ")}
     FROM ${tableText(table)} WHERE ${conditions.toString()} LIMIT ${conditions.value(mostFeatures)}`,
    conditions.values,
  );
  return rows.map((row) => ({
    fid: row["fid"] as number,
    wkb: row["geom"] as Uint8Array,
    properties: Object.fromEntries(
      columns.map(({ name, type }) => [name, readValue(type, row[name])]),
    ),
  }));
}
