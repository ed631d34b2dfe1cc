import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { feature } from "topojson-client";
import type { MultiPolygon, Polygon } from "geojson";
import type { GeometryCollection, Topology } from "topojson-specification";
import { unstitchGeometry } from "../../core/serving/unstitch.ts";

const require = createRequire(import.meta.url);

/** The countries of Natural Earth (public domain) at 1:110 million, as GeoJSON. */
export async function makeBorders(): Promise<Uint8Array> {
  const text = await readFile(require.resolve("world-atlas/countries-110m.json"), "utf8");
  const topology = JSON.parse(text) as Topology<{
    countries: GeometryCollection<{ name: string }>;
  }>;
  const { features } = feature(topology, topology.objects.countries);
  const countries = features.map(({ id, properties, geometry }) => ({
    type: "Feature",
    properties: { iso_number: id ?? null, name: properties.name },
    geometry: unstitchGeometry(geometry as Polygon | MultiPolygon),
  }));
  return Buffer.from(JSON.stringify({ type: "FeatureCollection", features: countries }));
}
