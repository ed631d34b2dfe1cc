/** The files of the map page, read and compressed once. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { feature } from "topojson-client";
import type { MultiPolygon, Polygon } from "geojson";
import type { GeometryCollection, Topology } from "topojson-specification";
import { Problem } from "../../core/errors.ts";
import { unstitchGeometry } from "../../core/serving/unstitch.ts";
import { Answer } from "./handler.ts";

const compress = promisify(gzip);
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

interface Ready {
  readonly plain: Buffer;
  readonly packed: Buffer;
  readonly etag: string;
}
const ready = new Map<string, Promise<Ready>>();

export async function answerMapFile(
  name: string,
  header: (name: string) => string | undefined,
): Promise<Answer> {
  const file = files.get(name);
  if (file === undefined) throw new Problem("NOT_FOUND", `The map has no file "${name}".`);
  let made = ready.get(name);
  if (made === undefined) {
    made = prepare(file.read);
    ready.set(name, made);
    made.catch(() => ready.delete(name));
  }
  const { plain, packed, etag } = await made;
  const headers = {
    etag,
    "content-type": file.media,
    // A day, and then a question: a newer version of the platform keeps the same addresses.
    "cache-control": "public, max-age=86400",
    vary: "accept-encoding",
    // A worker obeys the policy of its own file, not that of the page: it fetches the tiles.
    "content-security-policy": "default-src 'none'; script-src 'self'; connect-src 'self'",
  };
  if (header("if-none-match") === etag) return new Answer(undefined, { status: 304, headers });
  return /\bgzip\b/.test(header("accept-encoding") ?? "")
    ? new Answer(packed, { headers: { ...headers, "content-encoding": "gzip" } })
    : new Answer(plain, { headers });
}

async function prepare(read: () => Promise<Buffer>): Promise<Ready> {
  const plain = await read();
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 27)}"`;
  return { plain, packed: await compress(plain), etag };
}

function library(name: string): Promise<Buffer> {
  return readFile(require.resolve(`maplibre-gl/dist/${name}`));
}

/** Natural Earth's land at 1:110 million, which is in the public domain. */
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
