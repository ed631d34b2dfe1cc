/**
 * Writes src/adapters/h3/land-cells.ts: a bit for each H3 cell of resolution 3 that touches land of
 * Natural Earth 1:10m, or lies within a tenth of a degree of it. Reads dist: build the server first.
 */
import { Buffer } from "node:buffer";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { feature } from "topojson-client";
import { allChunks } from "../dist/adapters/h3/chunks.js";
import { cellPolygon } from "../dist/adapters/h3/cell-polygon.js";
import { createCover } from "../dist/core/zonal/cover-pixels.js";
import { toPixelRings } from "../dist/core/zonal/to-pixels.js";

const [width, height, size] = [3600, 1800, 0.1];
const grid = {
  toPixels: [1 / size, 0, 180 / size, 0, -1 / size, 90 / size],
  fromDegrees: (lon, lat) => [lon, lat],
  isWebMercator: false,
  extent: { west: -180, east: 180, isStraight: true },
};
const window = { left: 0, top: 0, width, height };
const cover = createCover();

const file = createRequire(import.meta.url).resolve("world-atlas/land-10m.json");
const topology = JSON.parse(await readFile(file, "utf8"));
const { features } = feature(topology, topology.objects.land);
const land = new Uint8Array(width * height);
for (const polygon of features.flatMap(({ geometry }) => geometry.coordinates)) {
  cover(toPixelRings(polygon, grid), window, (row, column, shares, count) => {
    for (let index = 0; index < count; index++) {
      if (shares[index] > 0) land[row * width + column + index] = 1;
    }
  });
}

const cells = allChunks();
const bits = Buffer.alloc(Math.ceil(cells.length / 8));
let found = 0;
for (const [index, cell] of cells.entries()) {
  let isLand = false;
  cover(toPixelRings(cellPolygon(cell), grid), window, (row, column, shares, count) => {
    for (let at = 0; at < count; at++) {
      if (shares[at] > 0 && land[row * width + column + at] === 1) isLand = true;
    }
  });
  if (!isLand) continue;
  bits[index >> 3] |= 1 << (index & 7);
  found += 1;
}
const target = fileURLToPath(new URL("../src/adapters/h3/land-cells.ts", import.meta.url));
await writeFile(
  target,
  `/**
 * The cells of resolution 3 that touch land: ${found} of ${cells.length}, one bit each in ascending order.
 * Made by \`node scripts/make-land-cells.js\` from Natural Earth.
 */
export const landBits =
  "${bits.toString("base64")}";
`,
);
console.log(`${found} of ${cells.length} cells touch land`);
