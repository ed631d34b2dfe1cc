/**
 * `npm run bench:tiles [-- --tiles 300] [--size 8192]`: raster tiles over HTTP from our orchestrator and
 * from TiTiler, of the same files. Two copies of one synthetic terrain: 32-bit floats in UTM, coloured
 * by a map of colours, and a picture of bytes, cut along the tiles of web maps as JPEG. Each tile is
 * asked for once; pictures are not kept, decoded blocks are, as both servers do in service.
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { createGdal } from "../dist/adapters/gdal/create-gdal.js";
import { makeTerrain } from "../dist/cli/demo/make-samples.js";
import { writeGeoTiff } from "../dist/cli/demo/write-geotiff.js";
import { installGeoPeers, startAsgi } from "./harness/geo-peers.js";
import { median, ratioOf } from "./harness/medians.js";
import { timeRequests } from "./harness/time-requests.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { startPlatform } from "./ours/platform.js";
import { reportFigures } from "./report/platform.js";

const { values } = parseArgs({
  options: {
    tiles: { type: "string", default: "300" },
    size: { type: "string", default: "8192" },
  },
});
const wanted = Number(values.tiles);
const size = Number(values.size);
const rounds = 2;
const grid = "tiles/WebMercatorQuad";
const folder = makeWorkFolder();
const hasPeers = installGeoPeers();
const platform = await startPlatform(folder, { env: { RMHDAG_TILE_CACHE_MB: "0" } });
const titiler = hasPeers
  ? await startAsgi("titiler_app:app", gdalSettings(), "/healthz")
  : undefined;
try {
  await makeSources();
  const figures = [];
  const terrain = await ingest("terrain.tif", { tier: "analysis", with_visual: false });
  const colours = "colormap_name=terrain&rescale=400,2700";
  for (const atOnce of [1, 8]) {
    figures.push(...(await compare("floats as PNG", terrain, `.png?${colours}`, atOnce)));
  }
  const picture = await ingest("picture.tif", { tier: "visualization" });
  for (const atOnce of [1, 8]) {
    figures.push(...(await compare("JPEG blocks", picture, ".jpg", atOnce)));
  }
  await reportFigures("tiles", {
    title: "Raster tiles",
    settings: `a terrain of ${size} × ${size} pixels, each tile made once, ${wanted} tiles a round, medians of ${rounds}`,
    whole: size >= 8192 && wanted >= 300,
    figures,
  });
} finally {
  await titiler?.stop();
  await platform.stop();
}

/** As TiTiler's documentation advises for files on the machine. */
function gdalSettings() {
  return {
    GDAL_CACHEMAX: "200",
    GDAL_DISABLE_READDIR_ON_OPEN: "EMPTY_DIR",
    GDAL_INGESTED_BYTES_AT_OPEN: "32768",
    VSI_CACHE: "TRUE",
  };
}

async function makeSources() {
  const gdal = await createGdal();
  const place = { epsg: 32632, west: 350_000, north: 5_210_000, pixel: 30 };
  const terrain = path.join(folder, "terrain.tif");
  await writeFile(terrain, writeGeoTiff(makeTerrain(size, size), place));
  const picture = path.join(folder, "picture.tif");
  const scale = ["-ot", "Byte", "-scale", "400", "2700", "1", "255", "-a_nodata", "none"];
  const rgb = ["-b", "1", "-b", "1", "-b", "1", "-colorinterp", "red,green,blue"];
  await gdal.run("gdal_translate", [...scale, ...rgb, terrain, picture], { workDir: folder });
  await platform.put(terrain);
  await platform.put(picture);
}

async function ingest(name, inputs) {
  const given = { blob_path: `bronze/${name}`, collection_id: "bench", ...inputs };
  const { item_id, blob_path } = await platform.run("raster_ingest", given);
  const base = `${platform.baseUrl}/stac/collections/bench/items/${item_id}`;
  const json = await (await fetch(`${base}/WebMercatorQuad/tilejson.json`)).json();
  const inside = [json.maxzoom, json.maxzoom - 1].flatMap((z) => tilesWithin(json.bounds, z));
  return { base, file: path.join(platform.storage, blob_path), inside, used: 0 };
}

async function compare(what, layer, rest, atOnce) {
  const join = rest.includes("?") ? "&" : "?";
  const url = `${join}url=${encodeURIComponent(layer.file)}`;
  const of = (base) => (list) =>
    timeRequests(
      list.map(({ z, x, y }) => `${base}/${grid}/${z}/${x}/${y}${rest}`),
      atOnce,
    );
  const cells = { ours: of(layer.base) };
  if (titiler !== undefined) {
    cells.TiTiler = (list) =>
      timeRequests(
        list.map(({ z, x, y }) => `${titiler.base}/${grid}/${z}/${x}/${y}${rest}${url}`),
        atOnce,
      );
  }
  const found = Object.fromEntries(Object.keys(cells).map((name) => [name, []]));
  // The first tiles start threads and processes, open the file and compile what is called often.
  for (const time of Object.values(cells)) await time(take(layer, 60));
  for (let round = 0; round < rounds; round++) {
    const list = take(layer, atOnce === 1 ? Math.ceil(wanted / 3) : wanted);
    for (const [name, time] of Object.entries(cells)) found[name].push(await time(list));
  }
  const middle = (name, key) => median(found[name].map((each) => each[key]));
  const rates = (name) => found[name].map(({ rate }) => rate);
  const isBlocks = rest === ".jpg";
  const least = isBlocks && atOnce === 8 ? { least: 500 } : {};
  const figures = Object.keys(cells).map((name) => ({
    what: `${what}, ${atOnce} at once: ${name}`,
    value: middle(name, "rate"),
    unit: "tiles/s",
    note: `p50 ${middle(name, "p50").toFixed(1)} ms, p95 ${middle(name, "p95").toFixed(1)} ms`,
    ...(name === "ours" ? least : {}),
  }));
  if (titiler === undefined) return figures;
  const tail = middle("ours", "p95") / middle("TiTiler", "p50");
  return [
    ...figures,
    {
      what: `${what}, ${atOnce} at once: ours is n × TiTiler`,
      value: ratioOf(rates("ours"), rates("TiTiler")),
      unit: "×",
      least: atOnce === 1 ? 3 : 5,
    },
    { what: `${what}, ${atOnce} at once: our p95 to its p50`, value: tail, unit: "×", most: 1 },
  ];
}

/** The next tiles that were not used before; 7919 is prime, so that none comes twice. */
function take(layer, count) {
  const { inside, used } = layer;
  if (used + count > inside.length) throw new Error("The raster has too few tiles.");
  layer.used += count;
  return Array.from({ length: count }, (_, at) => inside[((used + at) * 7919) % inside.length]);
}

/** The tiles of a zoom in the middle of the picture, where none has a part outside of it. */
function tilesWithin(bounds, z) {
  const [west, south, east, north] = shrink(bounds, 0.08);
  const column = (lon) => Math.floor(((lon + 180) / 360) * 2 ** z);
  const row = (lat) =>
    Math.floor((0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI)) * 2 ** z);
  const found = [];
  for (let x = column(west) + 1; x < column(east); x++) {
    for (let y = row(north) + 1; y < row(south); y++) found.push({ z, x, y });
  }
  return found;
}

function shrink([west, south, east, north], share) {
  const [x, y] = [(east - west) * share, (north - south) * share];
  return [west + x, south + y, east - x, north - y];
}
