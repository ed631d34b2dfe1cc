/** The base map of land and sea. Its outlines ship with the console, so no other server is needed. */
import type { StyleSpecification } from "maplibre-gl";
import { feature } from "topojson-client";
import landUrl from "world-atlas/land-110m.json?url";
import { unstitchGeometry } from "../../../src/core/serving/unstitch.ts";
import { getJson } from "../shared/api.ts";
import { theme } from "../shared/theme.ts";

type Area = GeoJSON.Polygon | GeoJSON.MultiPolygon;
type Topology = Parameters<typeof feature>[0];

let land: Promise<GeoJSON.GeoJSON> | undefined;

async function readLand(): Promise<GeoJSON.GeoJSON> {
  const topology = (await getJson(landUrl)) as Topology;
  const object = topology.objects["land"];
  if (object === undefined) throw new Error("the outlines hold no land");
  const found = feature(topology, object);
  const features = found.type === "FeatureCollection" ? found.features : [found];
  // The outlines are made for globes: on a flat map, Russia would draw a line around the world.
  return {
    type: "FeatureCollection",
    features: features.map((each) => ({
      ...each,
      geometry: unstitchGeometry(each.geometry as Area) as Area,
    })),
  };
}

export async function baseStyle(): Promise<StyleSpecification> {
  // Without the outlines a map still shows its layers; the next map reads them again.
  land ??= readLand().catch(() => {
    land = undefined;
    return { type: "FeatureCollection", features: [] };
  });
  const dark = theme.get() === "dark";
  return {
    version: 8,
    sources: { land: { type: "geojson", data: await land } },
    layers: [
      {
        id: "sea",
        type: "background",
        paint: { "background-color": dark ? "#101a1d" : "#dfe9ec" },
      },
      {
        id: "land",
        type: "fill",
        source: "land",
        paint: { "fill-color": dark ? "#1f2b2c" : "#f7f7f1" },
      },
      {
        id: "coast",
        type: "line",
        source: "land",
        paint: { "line-color": dark ? "#45585a" : "#a9b8b8", "line-width": 0.8 },
      },
    ],
  };
}
