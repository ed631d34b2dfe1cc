/**
 * `npm run bench:h3-global [-- --bbox 5,45,11,48] [--data FOLDER]`: a raster of the whole world at 1 km, 43,200 × 21,600 pixels, to
 * H3 cells of resolutions 2 to 7 of all land, as a job of `h3_raster_aggregation` on two workers. It says how
 * long that takes, what a million cells cost, and whether the memory of the workers grows. A bbox computes
 * a part; a folder that is given is kept.
 */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import path from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { machineMs, readProcesses } from "./harness/processes.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { startPlatform } from "./ours/platform.js";
import { reportFigures } from "./report/platform.js";

const option = (name) => process.argv[process.argv.indexOf(name, 2) + 1 || Infinity];
const bbox = option("--bbox")?.split(",").map(Number);
const [width, height] = [43_200, 21_600];

const folder = makeWorkFolder(option("--data"));
const world = path.join(folder, "world.tif");
makeWorld();
const platform = await startPlatform(folder, { workers: 2, concurrency: 1 });
try {
  await platform.put(world);
  const { workers } = platform;
  const samples = [];
  const timer = setInterval(() => {
    samples.push(Math.max(...workers.map(({ pid }) => memoryOf(pid, "VmRSS"))));
  }, 1000);
  const configuration = bbox === undefined ? {} : { bbox };
  const inputs = { raster: "world", blob_path: "bronze/world.tif", configuration };
  const [began, busy] = [performance.now(), machineMs()];
  const result = await platform.run("h3_raster_aggregation", inputs);
  const seconds = (performance.now() - began) / 1000;
  clearInterval(timer);
  const all = (machineMs() - busy) / 1000;
  const spent = readProcesses();
  const own = workers.reduce((sum, { pid }) => sum + spent.get(pid).ms / 1000, 0);
  const third = Math.ceil(samples.length / 3);
  const most = (of) => Math.max(...of);
  await reportFigures("h3-global", {
    title: "A raster of the world by H3 cell",
    settings: `${width} × ${height} pixels, resolutions 2 to 7 of all land, two workers of one task each`,
    whole: bbox === undefined,
    figures: [
      { what: "chunks", value: result.chunk_count, unit: "" },
      { what: "rows", value: result.row_count, unit: "" },
      { what: "whole job", value: seconds / 60, unit: "minutes", note: coresText(all, seconds) },
      {
        what: "CPU of the workers for a million cells",
        value: (own / result.row_count) * 1e6,
        unit: "s",
      },
      {
        what: "memory of a worker, first third",
        value: most(samples.slice(0, third)),
        unit: "MB",
        most: 512,
      },
      {
        what: "memory of a worker, second third",
        value: most(samples.slice(third, 2 * third)),
        unit: "MB",
        most: 512,
      },
      {
        what: "memory of a worker, last third",
        value: most(samples.slice(2 * third)),
        unit: "MB",
        most: 512,
      },
      {
        what: "peak memory, orchestrator",
        value: memoryOf(platform.orchestrator.pid, "VmHWM"),
        unit: "MB",
      },
    ],
  });
} finally {
  await platform.stop();
}

function coresText(all, seconds) {
  return `${(all / seconds).toFixed(1)} cores of the machine in use`;
}

/** Heights from −8,000 to 8,000 m, in blocks of 512 with DEFLATE. */
function makeWorld() {
  const raw = path.join(folder, "world.bin");
  const file = openSync(raw, "w");
  const waves = Float32Array.from({ length: width }, (_, x) => 3000 * Math.sin(x / 517));
  const ripples = Float32Array.from({ length: width }, (_, x) => 1000 * Math.cos(x / 61));
  const row = new Int16Array(width);
  for (let y = 0; y < height; y++) {
    const [a, b, base] = [Math.cos(y / 411), Math.sin(y / 47), 4000 * Math.sin(y / 1900)];
    for (let x = 0; x < width; x++) row[x] = base + waves[x] * a + ripples[x] * b;
    writeSync(file, new Uint8Array(row.buffer));
  }
  closeSync(file);
  writeFileSync(
    path.join(folder, "world.hdr"),
    `ENVI\nsamples = ${width}\nlines = ${height}\nbands = 1\ndata type = 2\nbyte order = 0\n`,
  );
  const tiled = [
    "TILED=YES",
    "BLOCKXSIZE=512",
    "BLOCKYSIZE=512",
    "COMPRESS=DEFLATE",
    "PREDICTOR=2",
  ];
  execFileSync("gdal_translate", [
    ...["-q", "-a_srs", "EPSG:4326", "-a_ullr", "-180", "90", "180", "-90"],
    ...[...tiled, "NUM_THREADS=2"].flatMap((option) => ["-co", option]),
    ...[raw, world],
  ]);
}

function memoryOf(pid, field) {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1]) / 1024;
}
