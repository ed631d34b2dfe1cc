/**
 * `npm run bench:h3-global [-- CHUNKS]`: a raster of the whole world at 1 km, 43,200 × 21,600 pixels, to cells of
 * resolutions 2 to 7. All land has 14,965 chunks; this computes CHUNKS of them (40), evenly spread, on one core,
 * and says what a million cells cost, how long all land would take on two cores, and whether memory grows.
 */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { assignCoarser, chunksIn } from "../dist/adapters/h3/chunks.js";
import { computeChunk } from "../dist/adapters/h3/compute-chunk.js";
import { openFile } from "../dist/adapters/tiles/open-file.js";
import { h3Configuration, resolutionsOf } from "../dist/core/h3/configuration.js";
import { makeWorkFolder } from "./harness/work-folder.js";

const wanted = Number(process.argv[2] ?? 40);
const file = path.join(makeWorkFolder(), "world.tif");
const tiled = ["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "COMPRESS=DEFLATE", "ZLEVEL=1"];
execFileSync("gdal_create", [
  ...["-q", "-outsize", "43200", "21600", "-ot", "Int16", "-burn", "7", "-a_srs", "EPSG:4326"],
  ...["-a_ullr", "-180", "90", "180", "-90", ...tiled.flatMap((option) => ["-co", option]), file],
]);
const configuration = h3Configuration.parse({});
const land = chunksIn([[-180, -90, 180, 90]], configuration.land_only).toSorted();
const coarser = assignCoarser(land, resolutionsOf(configuration));
const step = land.length / wanted;
const { signal } = new globalThis.AbortController();
const { raster, close } = await openFile(file, {});
const start = process.cpuUsage();
const peaks = [];
let cells = 0;
for (let index = 0; index < wanted; index++) {
  const h3_l3 = land[Math.floor(index * step)];
  const chunk = { h3_l3, coarser: coarser.get(h3_l3) ?? [] };
  const found = await computeChunk(raster, chunk, configuration, { signal });
  for (const rows of found.values()) cells += rows.length;
  peaks.push(process.memoryUsage().rss / 1e6);
}
const { user, system } = process.cpuUsage(start);
const seconds = (user + system) / 1e6;
await close();
const half = peaks.length / 2;
const most = (of) => Math.max(...of).toFixed(0);
process.stdout.write(
  `${wanted} of ${land.length} chunks: ${cells} cells, ${seconds.toFixed(1)} s of one core, ` +
    `${((seconds / cells) * 1e6).toFixed(0)} s a million cells, ` +
    `all land on two cores ${((seconds / wanted) * (land.length / 2 / 3600)).toFixed(1)} hours, ` +
    `memory ${most(peaks.slice(0, half))} MB in the first half and ${most(peaks.slice(half))} MB in the second\n`,
);
