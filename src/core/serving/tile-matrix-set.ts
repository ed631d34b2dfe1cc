/** WebMercatorQuad as the OGC defines it (OGC 17-083r4, annex D.1). */
import type { JsonObject } from "../model/json.ts";
import { mostZoom } from "./web-mercator.ts";

export const matrixSetName = "WebMercatorQuad";
export const matrixSetUri = "http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad";
export const webMercatorUri = "http://www.opengis.net/def/crs/EPSG/0/3857";

/** Half of the width of the world in metres. */
export const worldEdge = 20_037_508.342_789_244;

/** Of zoom 0 with pixels of 0.28 mm, as the OGC counts scales. */
const widestScale = 559_082_264.028_717_8;

export interface TileMatrix {
  readonly zoom: number;
  readonly scale: number;
  /** Tiles a side. */
  readonly side: number;
}

export function tileMatrices(least = 0, most: number = mostZoom): TileMatrix[] {
  return Array.from({ length: most - least + 1 }, (_, index) => {
    const zoom = least + index;
    return { zoom, scale: widestScale / 2 ** zoom, side: 2 ** zoom };
  });
}

export function matrixSetDocument(): JsonObject {
  return {
    id: matrixSetName,
    title: "Google Maps Compatible for the World",
    uri: matrixSetUri,
    crs: webMercatorUri,
    orderedAxes: ["X", "Y"],
    wellKnownScaleSet: "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible",
    tileMatrices: tileMatrices().map(({ zoom, scale, side }) => ({
      id: String(zoom),
      scaleDenominator: scale,
      cellSize: (2 * worldEdge) / 256 / side,
      cornerOfOrigin: "topLeft",
      pointOfOrigin: [-worldEdge, worldEdge],
      tileWidth: 256,
      tileHeight: 256,
      matrixWidth: side,
      matrixHeight: side,
    })),
  };
}
