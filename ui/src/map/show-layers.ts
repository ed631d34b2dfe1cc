import type {
  ExpressionSpecification,
  LayerSpecification,
  Map as MapLibre,
  SourceSpecification,
} from "maplibre-gl";
import { drawHexagons } from "../../../src/core/serving/hexagons.ts";
import { drawFeatures } from "../../../src/core/serving/map-style.ts";
import type { MapLayer } from "./layer.ts";

const prefix = "own:";

/** Makes the map show exactly these layers, in this order, above land and sea. */
export function showLayers(map: MapLibre, layers: readonly MapLayer[]): void {
  for (const { id } of [...map.getStyle().layers].reverse()) {
    if (id.startsWith(prefix)) map.removeLayer(id);
  }
  for (const id of Object.keys(map.getStyle().sources)) {
    if (id.startsWith(prefix)) map.removeSource(id);
  }
  for (const layer of layers) {
    const id = prefix + layer.id;
    map.addSource(id, sourceOf(layer));
    for (const drawn of drawingsOf(layer, id)) map.addLayer(drawn);
  }
}

/** The names of the layers whose features a click can pick. */
export function pickable(map: MapLibre): string[] {
  return map
    .getStyle()
    .layers.map(({ id }) => id)
    .filter((id) => id.startsWith(prefix));
}

function sourceOf(layer: MapLayer): SourceSpecification {
  if (layer.kind === "outlines") return { type: "geojson", data: layer.data, promoteId: "key" };
  const { tiles, minzoom, maxzoom, bounds, layers } = layer.tilejson;
  const common = { tiles: [...tiles], minzoom, maxzoom, bounds: [...bounds] as Bounds };
  return layers === undefined
    ? { type: "raster", tileSize: 256, ...common }
    : { type: "vector", ...common };
}

type Bounds = [number, number, number, number];

function drawingsOf(layer: MapLayer, source: string): LayerSpecification[] {
  if (layer.kind === "outlines") {
    const chosen: ExpressionSpecification = ["==", ["get", "key"], layer.chosen ?? ""];
    return [
      {
        id: `${source}/fill`,
        type: "fill",
        source,
        paint: {
          "fill-color": "#0b7f8a",
          "fill-opacity": ["case", chosen, 0, 0.14],
        },
      },
      {
        id: `${source}/line`,
        type: "line",
        source,
        paint: {
          "line-color": ["case", chosen, "#d97a06", "#0b7f8a"],
          "line-width": ["case", chosen, 2.5, 1.2],
        },
      },
    ];
  }
  if (layer.tilejson.layers === undefined) {
    // Without the fade a change of colours is visible half a second earlier.
    return [
      { id: `${source}/raster`, type: "raster", source, paint: { "raster-fade-duration": 0 } },
    ];
  }
  const { legend } = layer.tilejson;
  return layer.tilejson.layers.flatMap(
    (name) =>
      (legend === undefined
        ? drawFeatures(source, name, layer.style)
        : drawHexagons(source, name, legend)) as unknown as LayerSpecification[],
  );
}
