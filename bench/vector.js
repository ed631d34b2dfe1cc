/**
 * `npm run bench:vector`: a layer of 100,000 polygons, loaded by our handlers and by `ogr2ogr` with
 * COPY, on one server; then vector tiles of it, each made once. The handlers run as a worker runs
 * them, four chunks at a time; queues and orchestrators are measured elsewhere.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import path from "node:path";
import { createGdal } from "../dist/adapters/gdal/create-gdal.js";
import { openDatabase } from "../dist/adapters/postgres/database.js";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { findGeoTable } from "../dist/adapters/postgres/queries/geo-tables.js";
import { startEmbeddedPostgres } from "../dist/adapters/embedded-postgres/start-embedded-postgres.js";
import { createLocalStorage } from "../dist/adapters/storage/local-storage.js";
import { createSourceResolver } from "../dist/adapters/storage/resolve-source.js";
import { createVectorTiles } from "../dist/adapters/tiles/vector-tiles.js";
import { prepareVector } from "../dist/worker/handlers/vector/prepare.js";
import { publishVector, uploadChunk } from "../dist/worker/handlers/vector/upload-publish.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { reportFigures } from "./report/platform.js";

const quick = process.argv.includes("--quick");
const features = quick ? 10_000 : 100_000;
const tiles = quick ? 50 : 300;
const atOnce = 4;

const folder = makeWorkFolder();
const server = await startEmbeddedPostgres({ dataDirectory: path.join(folder, "postgres") });
try {
  await bench();
} finally {
  await server.stop();
}

async function bench() {
  await migrate(server.url);
  const gdal = await createGdal();
  const bronze = path.join(folder, "storage/bronze");
  await mkdir(bronze, { recursive: true });
  const lines = path.join(bronze, "squares.geojsonl");
  await writeFeatures(lines);
  const source = path.join(bronze, "squares.gpkg");
  await gdal.run("ogr2ogr", ["-f", "GPKG", source, lines], { workDir: folder });

  const database = openDatabase({ url: server.url, applicationName: "bench" });
  const ours = await timed(() => load(gdal, database));
  const peer = server.hasPostgis ? await timed(() => loadWithOgr(source)) : undefined;
  const { p50, p95 } = await makeTiles(database);
  await database.close();
  const { prepare, chunks, publish } = ours.value;
  const rate = (ms) => ({ value: features / (ms / 1000), unit: "features/s" });
  const engines = `GDAL ${gdal.version} (${gdal.engine}), PostgreSQL ${server.version}${server.hasPostgis ? " with PostGIS" : ""}`;
  const beside =
    peer === undefined
      ? []
      : [
          { what: "ogr2ogr with COPY and its index", ...rate(peer.ms) },
          { what: "ours to ogr2ogr, time", value: ours.ms / peer.ms, unit: "×" },
        ];
  await reportFigures("vector", {
    title: "Vector",
    settings: `${features.toLocaleString("en")} polygons, ${engines}`,
    whole: !quick,
    figures: [
      {
        what: "load: every geometry checked, COPY, index, swap",
        ...rate(ours.ms),
        note: `prepare ${seconds(prepare)}, chunks ${seconds(chunks)}, publish ${seconds(publish)}`,
      },
      ...beside,
      { what: `${tiles} tiles of zooms 5 to 9, each made once, p50`, value: p50, unit: "ms" },
      { what: "the same, p95", value: p95, unit: "ms" },
    ],
  });
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** Squares of a tenth of a degree with a few attributes, all over the world. */
async function writeFeatures(file) {
  const out = createWriteStream(file);
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

async function load(gdal, database) {
  const storage = createLocalStorage(path.join(folder, "storage"));
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
  const params = prepareVector.contract.params.parse({ blob_path: "bronze/squares.gpkg" });
  const prepared = await timed(() => prepareVector.run(params, context));
  const waiting = [...prepared.value.chunks];
  const chunks = await timed(() =>
    Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let chunk = waiting.shift(); chunk !== undefined; chunk = waiting.shift()) {
          await uploadChunk.run({ chunk }, context);
        }
      }),
    ),
  );
  const { load_id } = prepared.value;
  const published = await timed(() => publishVector.run({ load_id }, context));
  return { prepare: prepared.ms, chunks: chunks.ms, publish: published.ms };
}

async function loadWithOgr(source) {
  const url = new URL(server.url);
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
  const args = ["-f", "PostgreSQL", target, source, "-nln", "peer", "-nlt", "PROMOTE_TO_MULTI"];
  const child = spawn(
    "ogr2ogr",
    [...args, "-makevalid", "-dim", "XY", "--config", "PG_USE_COPY", "YES"],
    { stdio: "inherit" },
  );
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`ogr2ogr ended with ${code}`);
}

async function makeTiles(database) {
  const table = await findGeoTable(database, "squares");
  const made = createVectorTiles(database);
  const { signal } = new globalThis.AbortController();
  const times = [];
  for (let index = 0; index < tiles; index++) {
    const z = 5 + (index % 5);
    const side = 2 ** z;
    // A walk that visits the inhabited middle of the map and repeats no tile.
    const x = Math.floor(side * (0.05 + (0.85 * ((index * 37) % tiles)) / tiles));
    const y = Math.floor(side * (0.35 + (0.3 * ((index * 53) % tiles)) / tiles));
    times.push((await timed(() => made.make(table, { z, x, y }, signal))).ms);
  }
  times.sort((a, b) => a - b);
  return {
    p50: times[Math.floor(times.length * 0.5)],
    p95: times[Math.floor(times.length * 0.95)],
  };
}

async function timed(work) {
  const start = performance.now();
  const value = await work();
  return { value, ms: performance.now() - start };
}
