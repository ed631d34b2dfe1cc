/**
 * The catalogue: items written a second from files of JSON lines, ours and by `pypgstac load` on the same
 * server, and how long a search takes among many. Run after `npm run build`, or as
 * `npm run bench:catalogue -- --items 100000`.
 */
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { openDatabase } from "../dist/adapters/postgres/database.js";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { upsertCollection, upsertItems } from "../dist/adapters/postgres/repositories/catalogue.js";
import { startEmbeddedPostgres } from "../dist/adapters/embedded-postgres/start-embedded-postgres.js";
import { rectangle } from "../dist/core/geometry/boxes.js";
import { buildCollection } from "../dist/core/catalogue/collection.js";
import { operators } from "../dist/core/catalogue/owner.js";
import { buildRasterItem } from "../dist/core/catalogue/raster-item.js";
import { searchCatalogue } from "../dist/orchestrator/catalogue/search-catalogue.js";
import { installGeoPeers, runPython } from "./harness/geo-peers.js";
import { median, ratioOf, secondsOf } from "./harness/medians.js";
import { reportFigures } from "./report/platform.js";

const { values: given } = parseArgs({
  options: {
    items: { type: "string", default: "100000" },
    batch: { type: "string", default: "1000" },
    rounds: { type: "string", default: "200" },
  },
});
const [count, batch, rounds] = [given.items, given.batch, given.rounds].map(Number);

const writesAtOnce = 2;

/** The items come in so many files, ours and the peer's by turns. */
const files = count >= 30_000 ? 4 : 1;

const viewer = { reads: true, curates: true };
const folder = await mkdtemp(path.join(os.tmpdir(), "rmhdag-bench-"));
const hasPeers = installGeoPeers();
// pypgstac needs PostGIS; the same server for both.
const server = await startEmbeddedPostgres({ dataDirectory: path.join(folder, "postgres") });
const db = openDatabase({ url: server.url, applicationName: "bench" });
try {
  await migrate(server.url);
  await makeCollections();
  const written = [];
  const peer = [];
  for (let round = 0; round < files; round++) {
    const file = await writeItems(round);
    written.push(await secondsOf(() => ingest(file)));
    if (hasPeers && server.hasPostgis) peer.push(await timePgstac(file, round === 0));
  }
  await db.query("VACUUM ANALYZE dagapp.stac_items");
  const searches = await measureSearches();
  await reportFigures("catalogue", {
    title: "Catalogue",
    settings: `${count.toLocaleString("en")} items in batches of ${batch}, pages of 10, ${rounds} searches of each kind`,
    whole: count >= 100_000,
    figures: [
      { what: "items written", value: count / files / median(written), unit: "items/s" },
      ...(peer.length === 0
        ? []
        : [
            { what: "pypgstac load", value: count / files / median(peer), unit: "items/s" },
            {
              what: "items written: ours is n × pypgstac",
              value: ratioOf(peer, written),
              unit: "×",
              least: 1.2,
            },
          ]),
      ...Object.entries(searches).map(([name, { p50_ms, p95_ms }]) => ({
        what: `search: ${name}, p50`,
        value: p50_ms,
        unit: "ms",
        note: `p95 ${p95_ms} ms`,
      })),
    ],
  });
} finally {
  await db.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function makeCollections() {
  const collections = Array.from({ length: 10 }, (_, index) => `collection-${index}`);
  for (const id of collections) {
    await upsertCollection(db, buildCollection({ collection_id: id, license: "other" }), operators);
  }
}

/** A part of all items, batch by batch of another collection. */
async function writeItems(round) {
  const file = path.join(folder, `items-${round}.ndjson`);
  const out = createWriteStream(file);
  const each = count / files;
  for (let index = round * each; index < (round + 1) * each; index++) {
    const collection = `collection-${Math.floor(index / batch) % 10}`;
    const line = `${JSON.stringify(item(collection, index))}\n`;
    if (!out.write(line)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
  return file;
}

/** A batch is read while the two before it are written, each to a collection of its own. */
async function ingest(file) {
  let waiting = [];
  const writing = [];
  const write = async () => {
    if (writing.length === writesAtOnce) await writing.shift();
    const [{ collection }] = waiting;
    writing.push(upsertItems(db, collection, waiting, operators));
    waiting = [];
  };
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const read = JSON.parse(line);
    if (waiting.length > 0 && waiting[0].collection !== read.collection) await write();
    waiting.push(read);
    if (waiting.length === batch) await write();
  }
  if (waiting.length > 0) await write();
  await Promise.all(writing);
}

/** Into a database of its own, with the method for items that are not there yet. */
async function timePgstac(file, isFirst) {
  const url = new URL(server.url);
  url.pathname = "/pgstac";
  const pgstac = (...args) => runPython(["-m", "pypgstac.pypgstac", "--dsn", url.href, ...args]);
  if (isFirst) {
    await db.query("CREATE DATABASE pgstac");
    await pgstac("migrate");
    const lines = Array.from({ length: 10 }, (_, index) => {
      const made = buildCollection({ collection_id: `collection-${index}`, license: "other" });
      const bbox = [[-180, -90, 180, 90]];
      const extent = { spatial: { bbox }, temporal: { interval: [[null, null]] } };
      return JSON.stringify({ ...made, extent, links: [] });
    });
    const collections = path.join(folder, "collections.ndjson");
    await writeFile(collections, `${lines.join("\n")}\n`);
    await pgstac("load", "collections", collections);
  }
  return secondsOf(() => pgstac("load", "items", file, "--method", "insert"));
}

/** Spread over the world and eleven years by steps that never meet. */
function item(collection, index) {
  const west = -180 + ((index * 137.507764) % 359);
  const south = -85 + ((index * 61.803398) % 169);
  const bbox = [west, south, west + 1, south + 1];
  const day = new Date(Date.UTC(2014, 0, 1) + ((index * 7919) % 4000) * 86_400_000);
  const code = `EPSG:${32601 + (index % 60)}`;
  const band = {
    name: "b1",
    description: null,
    data_type: "uint16",
    color: "gray",
    nodata: 0,
    unit: null,
    scale: null,
    offset: null,
    sample: null,
    statistics: { minimum: 0, maximum: 9000, mean: 1200, stddev: 300, valid_percent: 98 },
  };
  const facts = {
    width: 10980,
    height: 10980,
    sampling: "area",
    datetime: null,
    raster_type: "continuous",
    crs: { code, name: code, wkt2: 'PROJCRS["UTM"]' },
    transform: [10, 0, 300000, 0, -10, 5000040],
    bands: [band, band, band, band],
    checksum: `1220${"ab".repeat(32)}`,
  };
  return buildRasterItem({
    collection_id: collection,
    item_id: `item-${index}`,
    footprint: { geometry: rectangle(bbox), bbox },
    time: { datetime: day.toISOString(), "rmhdag:datetime_source": "given" },
    files: [{ path: `silver/${collection}/${index}.tif`, bytes: 123_456_789, is_cog: true, facts }],
    processing: { datetime: day.toISOString(), software: { GDAL: "3.8.4" } },
    properties: { "eo:cloud_cover": index % 100 },
  });
}

async function measureSearches() {
  const box = (round, size) => {
    const west = -180 + ((round * 47.3) % (360 - size));
    const south = -80 + ((round * 31.7) % (160 - size));
    return [west, south, west + size, south + size];
  };
  const kinds = {
    "the newest": () => ({}),
    "one item by its id": (round) => ({ ids: [`item-${(round * 499) % count}`] }),
    "a box of 5°": (round) => ({ bbox: box(round, 5) }),
    "a box of 5° and a year": (round) => ({
      bbox: box(round, 5),
      datetime: `${2014 + (round % 10)}-01-01T00:00:00Z/${2015 + (round % 10)}-01-01T00:00:00Z`,
    }),
    "a collection and a month": (round) => ({
      collections: [`collection-${round % 10}`],
      datetime: `20${14 + (round % 10)}-03-01T00:00:00Z/20${14 + (round % 10)}-04-01T00:00:00Z`,
    }),
    "a polygon": (round) => ({ intersects: rectangle(box(round, 5)) }),
    "a box of 20° and a filter": (round) => ({
      bbox: box(round, 20),
      filter: `eo:cloud_cover < ${round % 20} AND proj:code = 'EPSG:${32601 + (round % 60)}'`,
    }),
    "a filter alone": (round) => ({ filter: `eo:cloud_cover < ${1 + (round % 5)}` }),
  };
  const measured = {};
  for (const [name, make] of Object.entries(kinds)) {
    const times = [];
    for (let round = 0; round < rounds; round++) {
      const request = { limit: 10, ...make(round) };
      const begun = performance.now();
      await searchCatalogue(db, viewer, {
        request,
        given: request,
        base: "http://localhost",
        path: "/stac/search",
        method: "POST",
      });
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    const at = (share) => Number(times[Math.floor(share * (times.length - 1))].toFixed(2));
    measured[name] = { p50_ms: at(0.5), p95_ms: at(0.95) };
  }
  return measured;
}
