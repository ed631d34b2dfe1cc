/**
 * `npm run bench:h3 [-- ROW]`: statistics of H3 cells, ours and those of Python's exactextract, on the same
 * raster, cells and one core. Says the time, the ratio, the largest difference and the peak of memory.
 * Each row of the table runs in a process of its own, so that the peaks are its own.
 * exactextract and rasterio come from PyPI into a virtual environment in the user's cache folder.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cellPolygon } from "../dist/adapters/h3/cell-polygon.js";
import { computeChunk } from "../dist/adapters/h3/compute-chunk.js";
import { openFile } from "../dist/adapters/tiles/open-file.js";
import { h3Configuration } from "../dist/core/h3/configuration.js";
import { installPython } from "../scripts/install-python.js";
import { makeWorkFolder } from "./harness/work-folder.js";

const peer = fileURLToPath(new URL("peers/extract_statistics.py", import.meta.url));
const bin = installPython("exactextract", ["exactextract==0.3.0", "rasterio"]);
const python = path.join(bin, "python");
const statistics = ["count", "sum", "mean", "stdev", "min", "max"];
/** North of Innsbruck: the raster covers all cells below it. */
const h3_l3 = "831f88fffffffff";

/** Whole metres repeat, as in most terrain models; of fractions hardly two are equal. */
const rows = [
  { name: "1 km", pixel: 1 / 120, values: "metres", wanted: statistics },
  { name: "30 m", pixel: 1 / 3600, values: "metres", wanted: statistics },
  {
    name: "30 m, with median",
    pixel: 1 / 3600,
    values: "metres",
    wanted: [...statistics, "median"],
  },
  {
    // exactextract keeps each value with its weight: finer pixels take gigabytes.
    name: "90 m, fractions, with median",
    pixel: 1 / 1200,
    values: "fractions",
    wanted: [...statistics, "median"],
  },
];
const chosen = process.argv[2];
if (chosen === undefined) {
  for (const index of rows.keys()) {
    const { status } = spawnSync(process.execPath, [process.argv[1], String(index)], {
      stdio: "inherit",
    });
    if (status !== 0) process.exit(1);
  }
} else await compare(rows[Number(chosen)]);

async function compare({ name, pixel, values: kind, wanted }) {
  const folder = makeWorkFolder();
  const raster = path.join(folder, "raster.tif");
  call(["raster", raster, String(pixel), kind]);
  const configuration = h3Configuration.parse({
    statistics: wanted,
    min_resolution: 3,
    max_resolution: 7,
  });
  const opened = await openFile(raster, {});
  const before = performance.now();
  const cells = new Map();
  const { signal } = new globalThis.AbortController();
  const chunk = { h3_l3, coarser: [] };
  const found = await computeChunk(opened.raster, chunk, configuration, { signal });
  for (const cellRows of found.values()) {
    for (const { cell, values } of cellRows) cells.set(cell, values);
  }
  const ours = (performance.now() - before) / 1000;
  const peak = process.resourceUsage().maxRSS / 1024;
  await opened.close();
  const zones = path.join(folder, "zones.json");
  const features = [...cells.keys()].map((cell) => ({
    type: "Feature",
    properties: { cell },
    geometry: { type: "Polygon", coordinates: cellPolygon(cell) },
  }));
  writeFileSync(zones, JSON.stringify({ type: "FeatureCollection", features }));
  const answer = path.join(folder, "answer.json");
  call(["extract", raster, zones, answer, wanted.join(",")]);
  const { seconds, cells: theirs } = JSON.parse(readFileSync(answer, "utf8"));
  let off = 0;
  for (const [cell, values] of cells) {
    for (const key of wanted) {
      const [a, b] = [values[key], theirs[cell][key]];
      off = Math.max(off, Math.abs(a - b) / Math.max(1, Math.abs(b)));
    }
  }
  process.stdout.write(
    `${name}: ${cells.size} cells, ours ${ours.toFixed(2)} s, exactextract ${seconds.toFixed(2)} s, ratio ${(seconds / ours).toFixed(2)}, largest difference ${off.toExponential(1)}, peak ${peak.toFixed(0)} MB\n`,
  );
}

function call(args) {
  const { status } = spawnSync(python, [peer, ...args], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
