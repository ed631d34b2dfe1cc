/**
 * Vector tiles of tables: PostGIS makes them where it is installed, otherwise they are made here
 * from WKB. A load of a table never changes, so a cached tile never grows stale.
 */
import { geoJSONToTile } from "@maplibre/geojson-vt";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import type { Feature, FeatureCollection, Geometry } from "geojson";
import { LRUCache } from "lru-cache";
import { layerName } from "../../core/serving/vector-documents.ts";
import { tileBounds } from "../../core/serving/web-mercator.ts";
import type { Tile } from "../../core/serving/web-mercator.ts";
import { toGeoJson } from "../../core/vector/geojson.ts";
import { readWkb } from "../../core/vector/read-wkb.ts";
import type { Bbox } from "../../core/geometry/geometry.ts";
import type { KnownItem } from "../postgres/queries/catalogue-items.ts";
import { rightsOf } from "../postgres/queries/catalogue-items.ts";
import type { TileQuery } from "../postgres/queries/feature-tiles.ts";
import { postgisTile, tileFeatures } from "../postgres/queries/feature-tiles.ts";
import type { FeatureRow } from "../postgres/queries/features.ts";
import type { GeoTable } from "../postgres/queries/geo-tables.ts";
import type { Queryable } from "../postgres/queryable.ts";
import { createMergeRequests } from "./merge-requests.ts";

/** Declared here, because the types of these packages do not resolve from an ES module. */
const toTile = geoJSONToTile as unknown as (
  data: FeatureCollection,
  z: number,
  x: number,
  y: number,
  options: object,
) => { readonly features: readonly unknown[] };
const toBytes = fromGeojsonVt as unknown as (
  layers: Record<string, { readonly features: readonly unknown[] }>,
  options: { readonly version: number; readonly extent: number },
) => Uint8Array;

/** The same as in TiPG. */
export const conventions = {
  extent: 4096,
  buffer: 256,
  layer: layerName,
  mostFeatures: 10_000,
} as const;
const keptBytes = 64 * 1024 * 1024;
/** Added to each tile's size: an empty tile takes a place too. */
const entryBytes = 200;

export interface VectorTiles {
  /** Empty: the tile has no feature. */
  make(table: GeoTable, tile: Tile, signal: AbortSignal): Promise<Uint8Array>;
  /**
   * Checks in the same statement that the viewer may see the item. Undefined: ask for item and table
   * again and use `make`, because one of them has changed, or because the tile is cached or not made by
   * PostGIS.
   */
  makeIfUnchanged(
    table: GeoTable,
    tile: Tile,
    item: KnownItem,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined>;
}

export function createVectorTiles(db: Queryable): VectorTiles {
  const kept = new LRUCache<string, Uint8Array>({
    maxSize: keptBytes,
    sizeCalculation: ({ length }) => length + entryBytes,
  });
  const merge = createMergeRequests<Uint8Array>();
  const mergeChecked = createMergeRequests<Uint8Array | undefined>();
  const keyOf = (table: GeoTable, { z, x, y }: Tile) =>
    `${table.table_name}/${table.load_id}/${z}/${x}/${y}`;

  return {
    makeIfUnchanged: async (table, tile, item, signal) => {
      const key = keyOf(table, tile);
      if (table.form !== "postgis" || kept.has(key)) return undefined;
      const { viewer, collectionId, itemId, version } = item;
      const asked = JSON.stringify([key, rightsOf(viewer), collectionId, itemId, version]);
      return mergeChecked(asked, signal, async () => {
        const made = await postgisTile(db, table, ...placeOf(table, tile), item).catch(refuseOther);
        if (made !== undefined) kept.set(key, made);
        return made;
      });
    },
    make: async (table, tile, signal) => {
      const key = keyOf(table, tile);
      const found = kept.get(key);
      if (found !== undefined) return found;
      return merge(key, signal, async () => {
        const made = await build(db, table, tile);
        kept.set(key, made);
        return made;
      });
    },
  };
}

/** A table that was loaded again may lack a column or be gone, before its row is compared. */
function refuseOther(error: unknown): undefined {
  const { code } = error as { code?: unknown };
  if (code !== undefinedColumn && code !== undefinedTable) throw error;
}
const undefinedColumn = "42703";
const undefinedTable = "42P01";

/** The query of a tile, and the tile with its buffer in degrees. */
function placeOf({ columns }: GeoTable, tile: Tile): [TileQuery, Bbox] {
  const margin = conventions.buffer / conventions.extent;
  const reach = tileBounds(tile.z, tile.x, tile.y, margin);
  return [{ ...tile, ...conventions, columns }, reach];
}

async function build(db: Queryable, table: GeoTable, tile: Tile): Promise<Uint8Array> {
  const [query, reach] = placeOf(table, tile);
  if (table.form === "postgis") {
    return (await postgisTile(db, table, query, reach)) ?? new Uint8Array(0);
  }
  const features = await tileFeatures(db, table, reach, query);
  return features.length === 0 ? new Uint8Array(0) : encodeVectorTile(features, query);
}

export interface TilePlace {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  readonly extent: number;
  readonly buffer: number;
  readonly layer: string;
}

/** Makes the tile that PostGIS would make, from WKB. Empty where no feature is left after clipping. */
function encodeVectorTile(features: readonly FeatureRow[], place: TilePlace): Uint8Array {
  return encodeFeatures(
    features.map(({ fid, wkb, properties }) => ({
      type: "Feature",
      id: fid,
      properties,
      geometry: toGeoJson(readWkb(wkb)) as Geometry,
    })),
    place,
  );
}

/** Empty where no feature is left after clipping. */
export function encodeFeatures(
  features: readonly Feature<Geometry, Record<string, unknown>>[],
  place: TilePlace,
): Uint8Array {
  const { z, x, y, extent, buffer, layer } = place;
  const collection: FeatureCollection = {
    type: "FeatureCollection",
    features: features.map((feature) => ({ ...feature, properties: plain(feature.properties) })),
  };
  // A tolerance of half a unit, as PostGIS has.
  const options = { extent, buffer, maxZoom: z, clip: true, tolerance: 0.5 };
  const tile = toTile(collection, z, x, y, options);
  if (tile.features.length === 0) return new Uint8Array(0);
  return toBytes({ [layer]: tile }, { version: 2, extent });
}

/** A tile has no null, and stores lists and objects as their JSON text. */
function plain(properties: Record<string, unknown>): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, value]) => {
      if (value === null || value === undefined) return [];
      const isPlain = ["string", "number", "boolean"].includes(typeof value);
      return [[name, isPlain ? (value as string) : JSON.stringify(value)]];
    }),
  );
}
