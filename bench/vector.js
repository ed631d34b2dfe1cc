/**
 * `npm run bench:vector`: a layer of 150,000 polygons as a GeoPackage and as GeoJSON lines, loaded by
 * our handlers and by `ogr2ogr -makevalid` with COPY, on one server; then vector tiles of it over HTTP,
 * each asked for once, beside TiPG and beside bare `ST_AsMVT` without a server. The handlers run as a
 * worker runs them, four chunks at a time; queues and orchestrators are measured elsewhere.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { createGdal } from "../dist/adapters/gdal/create-gdal.js";
import { openDatabase } from "../dist/adapters/postgres/database.js";
import { createLocalStorage } from "../dist/adapters/storage/local-storage.js";
import { createSourceResolver } from "../dist/adapters/storage/resolve-source.js";
import { prepareVector } from "../dist/worker/handlers/vector/prepare.js";
import { publishVector, uploadChunk } from "../dist/worker/handlers/vector/upload-publish.js";
import { installGeoPeers, startAsgi } from "./harness/geo-peers.js";
import { median, ratioOf, secondsOf } from "./harness/medians.js";
import { timeRequests } from "./harness/time-requests.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { startPlatform } from "./ours/platform.js";
import { reportFigures } from "./report/platform.js";

const quick = process.argv.includes("--quick");
const features = quick ? 10_000 : 150_000;
const rounds = quick ? 1 : 3;
const zooms = [5, 6, 7, 8, 9];
const tileCount = quick ? 60 : 300;
const atOnce = 8;
const hasPeers = installGeoPeers();

const folder = makeWorkFolder();
const gdal = await createGdal();
const sources = { "GeoJSON lines": "squares.geojsonl", GeoPackage: "squares.gpkg" };
const file = (name) => path.join(folder, name);
await writeFeatures(file(sources["GeoJSON lines"]));
await gdal.run("ogr2ogr", ["-f", "GPKG", file(sources.GeoPackage), file("squares.geojsonl")], {
  workDir: folder,
});
const platform = await startPlatform(folder);
const { postgres } = platform;
try {
  if (!postgres.hasPostgis) throw new Error("This needs a PostgreSQL with PostGIS.");
  for (const name of Object.values(sources)) await platform.put(file(name));
  const figures = [...(await benchLoads()), ...(await benchTiles())];
  await reportFigures("vector", {
    title: "Vector",
    settings: `${features.toLocaleString("en")} polygons, GDAL ${gdal.version} (${gdal.engine}), PostgreSQL ${postgres.version} with PostGIS, medians of ${rounds}`,
    whole: !quick,
    figures,
  });
} finally {
  await platform.stop();
}

async function benchLoads() {
  const database = openDatabase({ url: postgres.url, applicationName: "bench" });
  const figures = [];
  for (const [format, name] of Object.entries(sources)) {
    const [ours, theirs, parts] = [[], [], []];
    for (let round = 0; round < rounds; round++) {
      ours.push(await secondsOf(async () => parts.push(await load(database, name))));
      theirs.push(await secondsOf(() => loadWithOgr(file(name))));
    }
    const rate = (seconds) => ({ value: features / median(seconds), unit: "features/s" });
    const note = ["prepare", "chunks", "publish"]
      .map((part) => `${part} ${median(parts.map((each) => each[part])).toFixed(2)} s`)
      .join(", ");
    const what = `${format}: ours is n × ogr2ogr -makevalid`;
    figures.push(
      { what: `${format}: every geometry checked, COPY, index, swap`, ...rate(ours), note },
      { what: `${format}: ogr2ogr -makevalid with COPY and its index`, ...rate(theirs) },
      { what, value: ratioOf(theirs, ours), unit: "×", least: 1 },
    );
  }
  await database.close();
  return figures;
}

/** Squares of a tenth of a degree with a few attributes, all over the world. */
async function writeFeatures(target) {
  const out = createWriteStream(target);
  const columns = 400;
  for (let index = 0; index < features; index++) {
    const west = -170 + (index % columns) * 0.85;
    const south = -60 + Math.floor(index / columns) * (120 / (features / columns));
    const ring = [
      [west, south],
      [west + 0.1, south],
      [west + 0.1, south + 0.1],
      [west, south + 0.1],
      [west, south],
    ];
    const properties = {
      number: index,
      name: `square ${index}`,
      ratio: index / 7,
      kind: index % 5,
    };
    const feature = {
      type: "Feature",
      properties,
      geometry: { type: "Polygon", coordinates: [ring] },
    };
    if (!out.write(`${JSON.stringify(feature)}\n`)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
}

async function load(database, name) {
  const storage = createLocalStorage(platform.storage);
  const context = {
    task_id: "bench",
    job_id: "bench",
    node_id: "bench",
    attempt: 0,
    gdal,
    database,
    storage,
    signal: new globalThis.AbortController().signal,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    progress() {},
    sources: createSourceResolver({ storage, https: { allowedHosts: [] }, mounts: [] }),
    workDir: await mkdtemp(path.join(folder, "task-")),
    mountDir: folder,
  };
  const params = prepareVector.contract.params.parse({ blob_path: `bronze/${name}` });
  let prepared;
  const prepare = await secondsOf(async () => {
    prepared = await prepareVector.run(params, context);
  });
  const waiting = [...prepared.chunks];
  const chunks = await secondsOf(() =>
    Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let chunk = waiting.shift(); chunk !== undefined; chunk = waiting.shift()) {
          await uploadChunk.run({ chunk }, context);
        }
      }),
    ),
  );
  const { load_id } = prepared;
  const publish = await secondsOf(() => publishVector.run({ load_id }, context));
  return { prepare, chunks, publish };
}

async function loadWithOgr(source) {
  const url = new URL(postgres.url);
  const parts = {
    host: url.hostname,
    port: url.port,
    user: url.username,
    password: decodeURIComponent(url.password),
    dbname: url.pathname.slice(1),
  };
  const target = `PG:${Object.entries(parts)
    .map(([name, value]) => `${name}='${value}'`)
    .join(" ")}`;
  const args = ["-f", "PostgreSQL", target, source, "-nln", "peer", "-overwrite"];
  const more = ["-nlt", "PROMOTE_TO_MULTI", "-makevalid", "-dim", "XY"];
  const child = spawn("ogr2ogr", [...args, ...more, "--config", "PG_USE_COPY", "YES"], {
    stdio: "inherit",
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`ogr2ogr ended with ${code}`);
}

/** Other tiles for each of the servers, so that none finds pages in memory because of another. */
async function benchTiles() {
  const result = await platform.run("vector_etl", { blob_path: sources.GeoPackage });
  const { stac_collection_id: collection, stac_item_id: item } = result;
  const grid = "tiles/WebMercatorQuad";
  const base = `${platform.baseUrl}/stac/collections/${collection}/items/${item}/features/${grid}`;
  const cells = {
    ours: (list) =>
      timeRequests(
        list.map(({ z, x, y }) => `${base}/${z}/${x}/${y}`),
        atOnce,
      ),
    "bare ST_AsMVT": timeBare,
  };
  const tipg = hasPeers
    ? await startAsgi("tipg.main:app", tipgSettings(), "/collections/geo.squares")
    : undefined;
  if (tipg !== undefined) {
    const of = ({ z, x, y }) => `${tipg.base}/collections/geo.squares/${grid}/${z}/${x}/${y}`;
    cells.tipg = (list) => timeRequests(list.map(of), atOnce);
  }
  const found = Object.fromEntries(Object.keys(cells).map((name) => [name, []]));
  for (const time of Object.values(cells)) await time(chooseTiles(-1));
  for (let round = 0; round < rounds; round++) {
    for (const [name, time] of Object.entries(cells))
      found[name].push(await time(chooseTiles(round)));
  }
  await tipg?.stop();
  const rates = (name) => found[name].map(({ rate }) => rate);
  const against = (name, least) => ({
    what: `vector tiles: ours is n × ${name}`,
    value: ratioOf(rates("ours"), rates(name)),
    unit: "×",
    least,
  });
  return [
    ...Object.entries(found).map(([name, list]) => ({
      what: `vector tiles of zooms ${zooms[0]} to ${zooms.at(-1)}, ${atOnce} at once: ${name}`,
      value: median(list.map(({ rate }) => rate)),
      unit: "tiles/s",
      note: `p50 ${median(list.map(({ p50 }) => p50)).toFixed(1)} ms, p95 ${median(list.map(({ p95 }) => p95)).toFixed(1)} ms`,
    })),
    ...(tipg === undefined ? [] : [against("tipg", 1.5)]),
    against("bare ST_AsMVT", 0.9),
  ];
}

function tipgSettings() {
  return { DATABASE_URL: postgres.url, TIPG_DB_SCHEMAS: '["geo"]', DB_MIN_CONN_SIZE: "4" };
}

/** Tiles of the inhabited middle of the map, as many of each zoom; no round has one of another. */
function chooseTiles(round) {
  const each = tileCount / zooms.length;
  return zooms.flatMap((z) => {
    const at = (share) => Math.floor(2 ** z * share);
    const all = [];
    for (let x = at(0.05); x < at(0.9); x++) {
      for (let y = at(0.35); y < at(0.65); y++) all.push({ z, x, y });
    }
    // 7919 is prime, so that no tile comes twice before all have come.
    const from = (round + 1) * each;
    return Array.from({ length: each }, (_, index) => all[((from + index) * 7919) % all.length]);
  });
}

/** What the database alone takes: a pool of connections and one statement for each tile. */
async function timeBare(list) {
  const pool = new pg.Pool({ connectionString: postgres.url, max: atOnce });
  const text = `WITH features AS (
      SELECT fid, number, name, ratio, kind,
        ST_AsMVTGeom(ST_Transform(geom, 3857), ST_TileEnvelope($1, $2, $3), 4096, 256, true) AS geom
      FROM geo.squares
      WHERE geom && ST_Transform(ST_TileEnvelope($1, $2, $3, margin => 256.0 / 4096), 4326) LIMIT 10000)
    SELECT ST_AsMVT(features, 'default', 4096, 'geom', 'fid') FROM features WHERE geom IS NOT NULL`;
  const durations = [];
  const waiting = [...list];
  const seconds = await secondsOf(() =>
    Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let tile = waiting.shift(); tile !== undefined; tile = waiting.shift()) {
          const from = performance.now();
          await pool.query({ name: "tile", text, values: [tile.z, tile.x, tile.y] });
          durations.push(performance.now() - from);
        }
      }),
    ),
  );
  await pool.end();
  durations.sort((a, b) => a - b);
  const at = (share) => durations[Math.floor(share * (durations.length - 1))];
  return { rate: list.length / seconds, p50: at(0.5), p95: at(0.95) };
}
