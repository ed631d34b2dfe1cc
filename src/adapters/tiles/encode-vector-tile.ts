import { geoJSONToTile } from "@maplibre/geojson-vt";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import type { FeatureCollection, Geometry } from "geojson";
import { toGeoJson } from "../../core/vector/geojson.ts";
import { readWkb } from "../../core/vector/read-wkb.ts";
import type { FeatureRow } from "../postgres/queries/features.ts";

/** Its own types name their files in a way that TypeScript does not find from a module. */
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

export interface TilePlace {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  readonly extent: number;
  readonly buffer: number;
  readonly layer: string;
}

/** Without PostGIS: the same tile from WKB. Empty when nothing of the features is left in it. */
export function encodeVectorTile(features: readonly FeatureRow[], place: TilePlace): Uint8Array {
  const { z, x, y, extent, buffer, layer } = place;
  const collection: FeatureCollection = {
    type: "FeatureCollection",
    features: features.map(({ fid, wkb, properties }) => ({
      type: "Feature",
      id: fid,
      properties: plain(properties),
      geometry: toGeoJson(readWkb(wkb)) as Geometry,
    })),
  };
  const tile = toTile(collection, z, x, y, {
    ...{ extent, buffer, maxZoom: z, clip: true },
    // Half a unit, as with PostGIS.
    tolerance: 0.5,
  });
  if (tile.features.length === 0) return new Uint8Array(0);
  return toBytes({ [layer]: tile }, { version: 2, extent });
}

/** A tile has no value for nothing, and none for lists and objects but their text. */
function plain(properties: Record<string, unknown>): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, value]) => {
      if (value === null || value === undefined) return [];
      const isPlain = ["string", "number", "boolean"].includes(typeof value);
      return [[name, isPlain ? (value as string) : JSON.stringify(value)]];
    }),
  );
}
