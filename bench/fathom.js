/**
 * `npm run bench:fathom [-- SIDE]`: the memory of a flood merge. 16 tiles of 3600 × 3600 pixels (or another
 * side) and eight return periods are stacked and merged to one raster of 14,400 × 14,400 pixels. Says the
 * time of each phase, and the peak of memory of this process and of GDAL's together. The whole size takes ten
 * minutes; from a side of 900 on the merged pixels are more than GDAL's cache holds.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { createGdal } from "../dist/adapters/gdal/create-gdal.js";
import { openDatabase } from "../dist/adapters/postgres/database.js";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { createLocalStorage } from "../dist/adapters/storage/local-storage.js";
import { createSourceResolver } from "../dist/adapters/storage/resolve-source.js";
import { bandStack } from "../dist/worker/handlers/fathom/band-stack.js";
import { spatialMerge } from "../dist/worker/handlers/fathom/spatial-merge.js";
import {
  gridInventory,
  tileInventory,
} from "../dist/worker/handlers/fathom/tile-grid-inventory.js";
import { startPostgres } from "./harness/postgres.js";
import { makeWorkFolder } from "./harness/work-folder.js";

const side = Number(process.argv[2] ?? 3600);
const periods = [5, 10, 20, 50, 100, 200, 500, 1000];
const say = (text) => process.stdout.write(`${text}\n`);
const folder = makeWorkFolder();
const server = await startPostgres(folder, say);
await migrate(server.url);
const database = openDatabase({ url: server.url, applicationName: "bench" });
const storage = createLocalStorage(path.join(folder, "storage"));
const nothing = () => undefined;
const gdal = await createGdal();
let [peak, own, count] = [0, 0, 0];
const timer = setInterval(() => {
  const all = memoryOf(process.pid);
  if (all <= peak) return;
  peak = all;
  own = process.memoryUsage().rss;
}, 50);

await putTiles();
const stacking = await measure(async () => {
  const { tiles } = await run(tileInventory, { dataset: "bench", prefix: "bronze/flood/" });
  for (const tile of tiles) await run(bandStack, tile);
});
const merging = await measure(async () => {
  const { cells } = await run(gridInventory, { dataset: "bench" });
  for (const cell of cells) await run(spatialMerge, cell);
});
clearInterval(timer);
say(`16 stacks of ${side} × ${side} × 8: ${stacking}`);
say(`1 merge of ${4 * side} × ${4 * side} × 8: ${merging}`);
await database.close();
await server.stop();

/** One pattern of depths with dry land between, about a tenth of it wet; the files of a tile are equal. */
async function putTiles() {
  const values = new Float32Array(side * side);
  for (let index = 0; index < values.length; index++) {
    const [x, y] = [index % side, Math.floor(index / side)];
    const depth = Math.sin(x / 91) * 40 + Math.cos(y / 57) * 60 + ((x * 7919 + y * 104_729) % 13);
    values[index] = depth > 70 ? depth : -9999;
  }
  const raw = path.join(folder, "tile.bin");
  writeFileSync(raw, values);
  writeFileSync(
    path.join(folder, "tile.hdr"),
    `ENVI\nsamples = ${side}\nlines = ${side}\nbands = 1\ndata type = 4\nbyte order = 0\n`,
  );
  for (let index = 0; index < 16; index++) {
    const [lat, lon] = [Math.floor(index / 4), index % 4];
    const tile = path.join(folder, "tile.tif");
    const corners = [lon, lat + 1, lon + 1, lat].map(String);
    const place = ["-a_srs", "EPSG:4326", "-a_ullr", ...corners, "-a_nodata", "-9999"];
    const args = ["-q", ...place, "-co", "COMPRESS=DEFLATE", "-co", "TILED=YES", raw, tile];
    await gdal.run("gdal_translate", args, { workDir: folder });
    const bytes = readFileSync(tile);
    for (const years of periods) {
      const name = `1in${years}-FLUVIAL-DEFENDED-CM-2020_n0${lat}e00${lon}.tif`;
      await storage.put(`bronze/flood/${name}`, bytes);
    }
  }
}

async function measure(work) {
  peak = 0;
  const before = performance.now();
  await work();
  const seconds = (performance.now() - before) / 1000;
  const mega = (bytes) => (bytes / 1e6).toFixed(0);
  return `${seconds.toFixed(0)} s, peak ${mega(peak)} MB, of which GDAL ${mega(peak - own)} MB`;
}

async function run(handler, params) {
  const workDir = path.join(folder, `work-${count++}`);
  mkdirSync(workDir);
  const { signal } = new globalThis.AbortController();
  const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const names = { task_id: "t", job_id: "j", node_id: "n", attempt: 0 };
  const sources = createSourceResolver({ storage, https: { allowedHosts: [] }, mounts: [] });
  const context = { ...names, signal, logger, progress: nothing, storage, sources, gdal, database };
  return handler.run(handler.contract.params.parse(params), { ...context, workDir });
}

/** Resident bytes of a process and of all below it. */
function memoryOf(root) {
  const parents = new Map();
  const sizes = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      const of = (key) => Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
      parents.set(Number(name), of("PPid"));
      sizes.set(Number(name), /postgres/.test(status) ? 0 : of("VmRSS") * 1024);
    } catch {
      // It has ended.
    }
  }
  let sum = 0;
  for (const pid of sizes.keys()) {
    let at = pid;
    while (at !== root && at > 1) at = parents.get(at) ?? 0;
    if (at === root) sum += sizes.get(pid) ?? 0;
  }
  return sum;
}
