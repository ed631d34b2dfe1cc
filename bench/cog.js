/**
 * `npm run bench:cog [-- --side 6000]`: a COG of a terrain of 32-bit floats, as a whole job of
 * `raster_ingest` with all its checks, from the submission to the item in the catalogue, and by
 * `rio cogeo create` with a thread for each core, which checks nothing.
 */
import { stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeTerrain } from "../dist/cli/demo/make-samples.js";
import { writeGeoTiff } from "../dist/cli/demo/write-geotiff.js";
import { installGeoPeers, runPython } from "./harness/geo-peers.js";
import { median, ratioOf, secondsOf } from "./harness/medians.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { startPlatform } from "./ours/platform.js";
import { reportFigures } from "./report/platform.js";

const at = process.argv.indexOf("--side");
const side = at < 0 ? 6000 : Number(process.argv[at + 1]);
const rounds = side < 6000 ? 1 : 3;
if (!installGeoPeers()) throw new Error("This compares with rio-cogeo.");

const folder = makeWorkFolder();
const source = path.join(folder, "terrain.tif");
const place = { epsg: 32632, west: 350_000, north: 5_210_000, pixel: 30 };
await writeFile(source, writeGeoTiff(makeTerrain(side, side), place));
const platform = await startPlatform(folder);
try {
  await platform.put(source);
  const inputs = { blob_path: "bronze/terrain.tif", collection_id: "bench", with_visual: false };
  const theirs = path.join(folder, "rio.tif");
  const rio = "from rasterio.rio.main import main_group; main_group()";
  const profile = ["--cog-profile", "deflate", "--overview-resampling", "average"];
  const create = ["-c", rio, "cogeo", "create", source, theirs, ...profile];
  const [ours, peer] = [[], []];
  let made;
  for (let round = 0; round < rounds; round++) {
    ours.push(
      await secondsOf(async () => {
        made = await platform.run("raster_ingest", { ...inputs, item_id: `round-${round}` });
      }),
    );
    peer.push(await secondsOf(() => runPython([...create, "--threads", "ALL_CPUS", "-q"])));
  }
  const size = async (file) => `${((await stat(file)).size / 1e6).toFixed(0)} MB`;
  const own = path.join(platform.storage, made.blob_path);
  await reportFigures("cog", {
    title: "A Cloud-Optimized GeoTIFF",
    settings: `${side} × ${side} floats, DEFLATE, medians of ${rounds}`,
    whole: side >= 6000,
    figures: [
      { what: "raster_ingest, whole job", value: median(ours), unit: "s", note: await size(own) },
      { what: "rio cogeo create", value: median(peer), unit: "s", note: await size(theirs) },
      { what: "ours is n × rio cogeo", value: ratioOf(peer, ours), unit: "×", least: 0.9 },
    ],
  });
} finally {
  await platform.stop();
}
