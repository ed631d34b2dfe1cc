/**
 * Ingest against the bare GDAL commands for the same output, and tiles on two workers against one
 * piece. `npm run bench:raster [-- --side 8000]`; needs an installed GDAL.
 */
import { Buffer } from "node:buffer";
import { execFile } from "node:child_process";
import { open, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { median } from "./harness/medians.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { startPlatform } from "./ours/platform.js";
import { reportFigures } from "./report/platform.js";

const run = promisify(execFile);
const at = process.argv.indexOf("--side");
const side = at < 0 ? 8000 : Number(process.argv[at + 1]);
const rounds = side < 4000 ? 1 : 3;
const folder = makeWorkFolder();
const say = (text) => process.stderr.write(`${text}\n`);

await makeRaster(path.join(folder, "source.tif"));
const platform = await startPlatform(folder, { workers: 2, concurrency: 1 });
const job = platform.run;
try {
  await platform.put(path.join(folder, "source.tif"));
  const common = { blob_path: "bronze/source.tif", collection_id: "bench" };
  const target = { target_crs: "EPSG:3857", resampling: "bilinear" };
  const cells = {
    "bare GDAL": () => bare(path.join(folder, "source.tif"), path.join(folder, "bare.tif")),
    raster_ingest: () => job("raster_ingest", { ...common, ...target, with_visual: false }),
    "raster_process, one piece": () =>
      job("raster_process", { ...common, ...target, tile_threshold_mb: 100_000 }),
    "raster_process, tiles on 2 workers": () =>
      job("raster_process", { ...common, ...target, tile_threshold_mb: 0 }),
  };
  const seconds = Object.fromEntries(Object.keys(cells).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(cells)) {
      const started = performance.now();
      await measure();
      seconds[name].push((performance.now() - started) / 1000);
      say(`${name}: ${seconds[name].at(-1).toFixed(1)} s`);
    }
  }
  await tell(seconds);
} finally {
  await platform.stop();
}

/** Smooth with some noise, three bands of bytes, uncompressed strips. */
async function makeRaster(file) {
  const raw = file.replace(/tif$/, "raw");
  const handle = await open(raw, "w");
  let noise = 1;
  for (let row = 0; row < side; row++) {
    const line = Buffer.alloc(side * 3);
    for (let index = 0; index < line.length; index++) {
      noise = (Math.imul(noise, 1_103_515_245) + 12_345) >>> 0;
      line[index] = 100 + 60 * Math.sin((row + index / 3) / 200) + (noise >>> 28);
    }
    await handle.write(line);
  }
  await handle.close();
  const header = [
    "ENVI",
    `samples = ${side}`,
    `lines = ${side}`,
    "bands = 3",
    "data type = 1",
    "interleave = bip",
    "byte order = 0",
  ];
  await writeFile(file.replace(/tif$/, "hdr"), `${header.join("\n")}\n`);
  const place = ["-a_srs", "EPSG:32633", "-a_ullr", "400000", "5600000"];
  const corner = [String(400_000 + side * 10), String(5_600_000 - side * 10)];
  const color = ["-colorinterp", "red,green,blue"];
  await run("gdal_translate", ["-q", ...place, ...corner, ...color, raw, file]);
}

/** The GDAL command that writes the same output. */
async function bare(source, output) {
  const options = ["COMPRESS=DEFLATE", "PREDICTOR=STANDARD", "BIGTIFF=IF_SAFER"];
  options.push("OVERVIEW_RESAMPLING=AVERAGE", `NUM_THREADS=${cpus().length}`);
  const args = ["-q", "-overwrite", "-of", "COG", "-t_srs", "EPSG:3857", "-r", "bilinear"];
  const all = [...args, "-dstalpha", ...options.flatMap((option) => ["-co", option])];
  await run("gdalwarp", [...all, source, output]);
}

async function tell(seconds) {
  const [bareGdal, ingest, onePiece, tiles] = Object.values(seconds).map(median);
  const took = Object.entries(seconds).map(([what, values]) => ({
    what,
    value: median(values),
    unit: "s",
    note: `rounds: ${values.map((value) => value.toFixed(1)).join(", ")}`,
  }));
  await reportFigures("raster", {
    title: "Raster",
    settings: `${(side * side * 3) / 1e6} MB, three bands of bytes from UTM to web mercator, medians of ${rounds}`,
    whole: side >= 8000,
    figures: [
      ...took,
      { what: "raster_ingest to bare GDAL", value: ingest / bareGdal, unit: "×", most: 1.1 },
      { what: "tiles on 2 workers to one piece", value: tiles / onePiece, unit: "×", most: 1 },
    ],
  });
}
