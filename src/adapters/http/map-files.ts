/** The files of the map page, read and compressed at their first use. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { feature } from "topojson-client";
import type { MultiPolygon, Polygon } from "geojson";
import type { GeometryCollection, Topology } from "topojson-specification";
import { Problem } from "../../core/errors.ts";
import { unstitchGeometry } from "../../core/serving/unstitch.ts";
import { cached } from "../runtime/cached.ts";
import { acceptsGzip } from "./compress.ts";
import type { Answer } from "./handler.ts";
import type { StaticFile } from "./static-files.ts";
import { answerFile, gzipped, toStaticFile } from "./static-files.ts";

const gzipBytes = promisify(gzip);
const require = createRequire(import.meta.url);
const own = new URL("../../../assets/map/", import.meta.url);

const script = "text/javascript; charset=utf-8";
const style = "text/css; charset=utf-8";

const files = new Map<string, { readonly media: string; readonly read: () => Promise<Buffer> }>([
  ["map.js", { media: script, read: () => readFile(new URL("map.js", own)) }],
  ["map.css", { media: style, read: () => readFile(new URL("map.css", own)) }],
  ["maplibre-gl.mjs", { media: script, read: () => library("maplibre-gl.mjs") }],
  ["maplibre-gl-worker.mjs", { media: script, read: () => library("maplibre-gl-worker.mjs") }],
  ["maplibre-gl.css", { media: style, read: () => library("maplibre-gl.css") }],
  ["land.json", { media: "application/geo+json", read: readLand }],
]);

const ready = new Map<string, Promise<StaticFile>>();

export async function answerMapFile(
  name: string,
  header: (name: string) => string | undefined,
): Promise<Answer> {
  const file = files.get(name);
  if (file === undefined) throw new Problem("NOT_FOUND", `The map has no file "${name}".`);
  const isGzipped = acceptsGzip(header);
  const found = await cached(ready, isGzipped ? `${name}.gz` : name, async () => {
    const bytes = await file.read();
    return toStaticFile(isGzipped ? await gzipBytes(bytes) : bytes);
  });
  return answerFile(found, header, {
    "content-type": file.media,
    // One day: a newer version of the platform keeps the same addresses.
    "cache-control": "public, max-age=86400",
    // A worker gets its policy from its own file and not from the page, and it fetches the tiles.
    "content-security-policy": "default-src 'none'; script-src 'self'; connect-src 'self'",
    ...(isGzipped ? gzipped : {}),
  });
}

function library(name: string): Promise<Buffer> {
  return readFile(require.resolve(`maplibre-gl/dist/${name}`));
}

/** The land of Natural Earth at 1:110 million, which is in the public domain. */
async function readLand(): Promise<Buffer> {
  const text = await readFile(require.resolve("world-atlas/land-110m.json"), "utf8");
  const topology = JSON.parse(text) as Topology<{ land: GeometryCollection }>;
  const { features } = feature(topology, topology.objects.land);
  const flat = features.map(({ geometry }) => ({
    type: "Feature",
    properties: {},
    geometry: unstitchGeometry(geometry as Polygon | MultiPolygon),
  }));
  return Buffer.from(JSON.stringify({ type: "FeatureCollection", features: flat }));
}
