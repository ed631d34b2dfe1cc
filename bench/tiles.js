/* global AbortController */
/**
 * How fast tiles are made: `npm run bench:tiles [-- --tiles 400] [--size 8192]`.
 * Two copies of one synthetic terrain: the visualization tier (bytes, cut along the tiles of web maps)
 * and the analysis tier (32-bit floats in UTM). Every tile is another one, so no picture is kept from
 * before; decoded blocks are, as they would be in service.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { createGdal } from "../dist/adapters/gdal/create-gdal.js";
import { createLocalStorage } from "../dist/adapters/storage/local-storage.js";
import { createDiskCache } from "../dist/adapters/tiles/disk-cache.js";
import { createLazyRasterServer } from "../dist/adapters/tiles/raster-server.js";
import { makeTerrain } from "../dist/cli/demo/make-samples.js";
import { writeGeoTiff } from "../dist/cli/demo/write-geotiff.js";
import { reportFigures } from "./report/platform.js";

const { values } = parseArgs({
  options: {
    tiles: { type: "string", default: "400" },
    size: { type: "string", default: "8192" },
  },
});
const wanted = Number(values.tiles);
const size = Number(values.size);
const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-bench-tiles-"));
try {
  const results = await measure();
  await reportFigures("tiles", {
    title: "Raster tiles",
    settings: `a terrain of ${size} × ${size} pixels, each tile made once, no picture kept`,
    whole: size >= 8192 && wanted >= 400,
    figures: results.flatMap(({ tier, compression, at_once, tiles, p50_ms, p95_ms, rate }) => [
      {
        what: `${tier} (${compression}), ${at_once} at once`,
        value: rate,
        unit: "tiles/s",
        note: `${tiles} tiles, p50 ${p50_ms} ms, p95 ${p95_ms} ms`,
      },
    ]),
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measure() {
  const gdal = await createGdal({ prefer: "auto", searchPath: process.env["PATH"] });
  const place = { epsg: 32632, west: 350_000, north: 5_210_000, pixel: 30 };
  const source = path.join(folder, "source.tif");
  await writeFile(source, writeGeoTiff(makeTerrain(size, size), place));
  const storage = createLocalStorage(path.join(folder, "storage"));
  const codec = gdal.engine === "native" ? "JPEG" : "DEFLATE";
  const scale = ["-ot", "Byte", "-scale", "400", "2700", "1", "255", "-a_nodata", "none"];
  const rgb = ["-b", "1", "-b", "1", "-b", "1"];
  const tiling = ["-co", "TILING_SCHEME=GoogleMapsCompatible", "-co", "ADD_ALPHA=NO"];
  const kinds = [
    ["visualization", codec, [...scale, ...rgb, ...tiling], {}],
    ["analysis", "DEFLATE", ["-co", "PREDICTOR=YES"], { colormap_name: "terrain" }],
  ];
  const results = [];
  for (const [tier, compression, more, options] of kinds) {
    const file = path.join(folder, `${tier}.tif`);
    await gdal.run(
      "gdal_translate",
      ["-of", "COG", "-co", `COMPRESS=${compression}`, ...more, source, file],
      {
        workDir: folder,
      },
    );
    const stored = `silver/${tier}.tif`;
    await storage.putFile(stored, file);
    const common = {
      kind: "raster",
      title: tier,
      bounds: [0, 0, 1, 1],
      style: null,
      version_tag: "1",
    };
    const layer = { ...common, path: stored, data_path: stored };
    for (const atOnce of [1, 4]) {
      results.push({ tier, compression, ...(await time(storage, layer, options, atOnce)) });
    }
  }
  return results;
}

/** Tiles of the two finest zooms, inside of the layer, in an order that looks random. */
async function time(storage, layer, options, atOnce) {
  const server = createLazyRasterServer({
    storage,
    log: console,
    disk: createDiskCache("", 0),
    pictureCacheBytes: 0,
  });
  const { bounds, maxZoom } = await server.zooms(layer);
  const tiles = [maxZoom, maxZoom - 1].flatMap((zoom) => tilesWithin(bounds, zoom));
  // 7919 is prime, so that no tile comes twice before all have come.
  const count = Math.min(wanted, tiles.length);
  const chosen = Array.from({ length: count }, (_, index) => tiles[(index * 7919) % tiles.length]);
  const { signal } = new AbortController();
  const durations = [];
  const begun = performance.now();
  let next = 0;
  const work = async () => {
    for (let tile = chosen[next++]; tile !== undefined; tile = chosen[next++]) {
      const from = performance.now();
      const asked = { resampling: "nearest", ...options };
      await server.tile(layer, tile, { options: asked, format: "auto", tileSize: 256, signal });
      durations.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const seconds = (performance.now() - begun) / 1000;
  durations.sort((a, b) => a - b);
  const at = (share) => Number(durations[Math.floor(share * (durations.length - 1))].toFixed(1));
  return {
    at_once: atOnce,
    tiles: chosen.length,
    p50_ms: at(0.5),
    p95_ms: at(0.95),
    rate: chosen.length / seconds,
  };
}

function tilesWithin([west, south, east, north], z) {
  const column = (lon) => Math.floor(((lon + 180) / 360) * 2 ** z);
  const row = (lat) =>
    Math.floor((0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI)) * 2 ** z);
  const found = [];
  for (let x = column(west) + 1; x < column(east); x++) {
    for (let y = row(north) + 1; y < row(south); y++) found.push({ z, x, y });
  }
  return found;
}
