/** A layer as a style of MapLibre, which web maps and QGIS read from one address. */
import type { Json, JsonObject } from "../model/json.ts";
import { drawHexagons, legendOf } from "./hexagons.ts";
import type { Layer } from "./layer.ts";
import type { LayerStyle } from "./style.ts";
import type { TileJson } from "./tilejson.ts";

const sourceName = "layer";

export function makeMapStyle(layer: Layer, tilejson: TileJson): JsonObject {
  const { name, tiles, minzoom, maxzoom, bounds, center } = tilejson;
  const source = { tiles: [...tiles], minzoom, maxzoom, bounds: [...bounds] };
  const isVector = layer.kind === "vector" || layer.kind === "hexagons";
  const legend = legendOf(tilejson);
  return {
    version: 8,
    name,
    center: [center[0], center[1]],
    zoom: center[2],
    sources: {
      [sourceName]: isVector
        ? { type: "vector", ...source }
        : { type: "raster", tileSize: 256, ...source },
    },
    layers: isVector
      ? legend === undefined
        ? drawFeatures(sourceName, "default", layer.style?.vector ?? null)
        : drawHexagons(sourceName, "default", legend)
      : [{ id: `${sourceName}/raster`, type: "raster", source: sourceName }],
  };
}

/** Surfaces, lines and points of one layer of vector tiles. */
export function drawFeatures(
  source: string,
  name: string,
  style: LayerStyle["vector"] | null,
): (JsonObject & { readonly id: string; readonly type: string })[] {
  const { fill = "#0b7f8a", stroke = "#06545c", width = 1, radius = 4 } = style ?? {};
  const drawing = (suffix: string, type: string, filter: Json, paint: JsonObject) => ({
    id: `${source}/${name}/${suffix}`,
    type,
    source,
    "source-layer": name,
    filter,
    paint,
  });
  return [
    drawing("fill", "fill", ["==", ["geometry-type"], "Polygon"], {
      "fill-color": fill,
      "fill-opacity": 0.55,
    }),
    drawing("line", "line", ["!=", ["geometry-type"], "Point"], {
      "line-color": stroke,
      "line-width": width,
    }),
    drawing("point", "circle", ["==", ["geometry-type"], "Point"], {
      "circle-color": fill,
      "circle-stroke-color": stroke,
      "circle-stroke-width": width,
      "circle-radius": radius,
    }),
  ];
}
