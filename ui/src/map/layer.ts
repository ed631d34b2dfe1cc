import type { HexagonLegend } from "../../../src/core/serving/hexagons.ts";
import { legendOf } from "../../../src/core/serving/hexagons.ts";

/** A layer that a map shows on top of land and sea. */
export type MapLayer =
  | {
      readonly kind: "tiles";
      readonly id: string;
      readonly tilejson: TileSource;
      readonly style?: VectorStyle | undefined;
    }
  | {
      readonly kind: "outlines";
      readonly id: string;
      readonly data: GeoJSON.FeatureCollection;
      readonly chosen?: string | undefined;
    };

export interface TileSource {
  readonly tiles: readonly string[];
  readonly minzoom: number;
  readonly maxzoom: number;
  readonly bounds: readonly [number, number, number, number];
  /** The names of the layers of vector tiles; raster tiles have none. */
  readonly layers?: readonly string[];
  /** How values by H3 cell are coloured. */
  readonly legend?: HexagonLegend;
}

export interface VectorStyle {
  readonly fill?: string | undefined;
  readonly stroke?: string | undefined;
  readonly width?: number | undefined;
  readonly radius?: number | undefined;
}

/** Reads a TileJSON document; missing members get defaults that show the layer everywhere. */
export function readTileSource(given: unknown): TileSource | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { tiles, minzoom, maxzoom, bounds, vector_layers } = given as Record<string, unknown>;
  if (!Array.isArray(tiles) || !tiles.every((tile) => typeof tile === "string")) return undefined;
  const named = Array.isArray(vector_layers)
    ? vector_layers.map((layer: unknown) => String((layer as { id?: unknown }).id))
    : undefined;
  const legend = legendOf(given);
  return {
    tiles: tiles.map((tile) => toAbsolute(tile)),
    minzoom: typeof minzoom === "number" ? minzoom : 0,
    maxzoom: typeof maxzoom === "number" ? maxzoom : 22,
    bounds: isBounds(bounds) ? bounds : [-180, -85, 180, 85],
    ...(named === undefined ? {} : { layers: named }),
    ...(legend === undefined ? {} : { legend }),
  };
}

/**
 * Tiles are read from the origin of this page: behind a proxy the server may know itself by another
 * name. The address is handled as text, because a URL object would escape its braces.
 */
function toAbsolute(address: string): string {
  return window.location.origin + address.replace(/^https?:\/\/[^/]+/, "");
}

function isBounds(value: unknown): value is [number, number, number, number] {
  return (
    Array.isArray(value) && value.length === 4 && value.every((each) => typeof each === "number")
  );
}
