/**
 * Every workflow that partners see is submitted through the gateway with a real file. Nothing that it
 * makes is visible before its version is approved, all of it is served afterwards, nothing is left
 * when the approval is withdrawn, and no job id is in any answer.
 */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashToken } from "../../src/adapters/http/tokens.ts";
import type { Client } from "../../src/core/api/client.ts";
import { createClient } from "../../src/core/api/client.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import { halfWorld, toMercator } from "../../src/core/serving/web-mercator.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { squaresFile } from "../support/layers.ts";
import type { PartnerAccepted, PartnerAsset } from "../support/partner.ts";
import { Partner } from "../support/partner.ts";
import { Fleet } from "../support/programs.ts";
import { writeTiff } from "../support/tiff.ts";
import { waitFor } from "../support/wait.ts";

const slow = 300_000;
const access = {
  operator: "read+operate+curate+admin",
  gateway: "read+operate+curate",
  curator: "read+curate",
  viewer: "read",
};
type Viewer = keyof typeof access | "anonymous";

/** A ramp of one band, at this many degrees east, on the equator. */
function ramp(size: number, west: number): Uint8Array {
  const band = Uint8Array.from({ length: size * size }, (_, at) => 1 + (at % 250));
  return writeTiff({
    images: [{ width: size, height: size, block: 256, bands: [band], compression: "none" }],
    epsg: 4326,
    origin: [west, 1],
    pixel: [1 / size, 1 / size],
  });
}

function tileAt(lon: number, lat: number, z: number) {
  const [x, y] = toMercator(lon, lat);
  const along = (metres: number) => Math.floor((metres / (2 * halfWorld)) * 2 ** z);
  return { x: along(x + halfWorld), y: along(halfWorld - y) };
}

const files: Readonly<Record<string, Uint8Array>> = {
  "small.tif": ramp(256, 10),
  "large.tif": ramp(1280, 20),
  "scene-1.tif": ramp(256, 30),
  "scene-2.tif": ramp(256, 31),
  "squares.geojson": squaresFile(),
};

interface Case {
  readonly workflow_id: string;
  readonly inputs: JsonObject;
  /** How many items it makes; without any it has no service addresses. */
  readonly items: number;
  readonly reprocess?: true;
}

/** The workflows whose layers have vector tiles. */
const vectorTiles = new Set(["vector_etl", "h3_raster_aggregation"]);

const plain = (workflow_id: string, inputs: JsonObject = {}): Case => ({
  workflow_id,
  inputs,
  items: 0,
});

const cases: Readonly<Record<string, Case>> = {
  raster_ingest: {
    workflow_id: "raster_ingest",
    inputs: { blob_path: "bronze/ddh/small.tif", collection_id: "ingested" },
    items: 1,
    reprocess: true,
  },
  "raster_process of a small raster": {
    workflow_id: "raster_process",
    inputs: { blob_path: "bronze/ddh/small.tif", collection_id: "processed" },
    items: 1,
    reprocess: true,
  },
  "raster_process of a large raster": {
    workflow_id: "raster_process",
    inputs: {
      blob_path: "bronze/ddh/large.tif",
      collection_id: "processed",
      tile_threshold_mb: 1,
      tile_size_mb: 0.5,
    },
    items: 1,
  },
  "raster_process to one file": {
    workflow_id: "raster_process",
    inputs: {
      blob_path: "bronze/ddh/large.tif",
      collection_id: "processed",
      tile_threshold_mb: 1,
      tile_size_mb: 1,
      output: "single",
    },
    items: 1,
  },
  "raster_tiled_processing of a small raster": {
    workflow_id: "raster_tiled_processing",
    inputs: { blob_path: "ddh/small.tif", collection_id: "tiled" },
    items: 1,
  },
  "raster_tiled_processing of a large raster": {
    workflow_id: "raster_tiled_processing",
    inputs: { blob_path: "ddh/large.tif", collection_id: "tiled", tile_threshold_mb: 1 },
    items: 1,
    reprocess: true,
  },
  raster_collection: {
    workflow_id: "raster_collection",
    inputs: {
      blob_paths: ["bronze/ddh/scene-1.tif", "bronze/ddh/scene-2.tif"],
      collection_id: "scenes",
    },
    items: 2,
    reprocess: true,
  },
  vector_etl: {
    workflow_id: "vector_etl",
    inputs: { blob_path: "ddh/squares.geojson" },
    items: 1,
    reprocess: true,
  },
  h3_raster_aggregation: {
    workflow_id: "h3_raster_aggregation",
    inputs: {
      raster: "ramp",
      blob_path: "bronze/ddh/small.tif",
      collection_id: "hexagons",
      configuration: { max_resolution: 5 },
    },
    items: 1,
    reprocess: true,
  },
  hello_world: plain("hello_world"),
  echo_test: plain("echo_test", { message: "hello" }),
  data_pipeline_test: plain("data_pipeline_test", { dataset: "rivers" }),
  fan_out_test: plain("fan_out_test"),
  conditional_test: plain("conditional_test"),
  checkpoint_test: plain("checkpoint_test"),
  retry_test: plain("retry_test"),
  retry_fan_out_test: plain("retry_fan_out_test"),
};

let database: TestDatabase;
let fleet: Fleet;
let orchestrator: string;
let gatewayUrl: string;
let operator: Client;
let partner: Partner;
/** Of a program of the partner that may not curate. */
let readerKey: string;
let hooks: Server;
/** Bodies of callbacks. */
const called: string[] = [];
/** Every answer that a client of the services got. */
const answers: string[] = [];
const submitted = new Map<string, PartnerAccepted>();

beforeAll(async () => {
  database = await createTestDatabase();
  fleet = new Fleet(database.url);
  const tokens = Object.entries(access).map(([name, may]) => `${name}:${may}:${hashToken(name)}`);
  hooks = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      called.push(JSON.stringify(request.headers) + text);
      response.end();
    });
  });
  await new Promise<void>((resolve) => hooks.listen(0, "127.0.0.1", resolve));
  const started = await fleet.orchestrator({
    RMHDAG_OPEN_ON_LOOPBACK: "false",
    DAG_SERVICE_TOKENS: tokens.join(","),
    CALLBACK_SIGNING_KEY: "a key for tests, of more than 32 characters",
    CALLBACK_PRIVATE_NETWORKS: "127.0.0.0/8",
  });
  orchestrator = started.url;
  await fleet.worker({ WORKER_CONCURRENCY: "4" });
  const gateway = await fleet.gateway(started, {
    DAG_SERVICE_TOKEN: "gateway",
    GATEWAY_RATE_PER_SECOND: "1000",
    GATEWAY_RATE_BURST: "1000",
  });
  gatewayUrl = gateway.url;
  operator = createClient({ baseUrl: orchestrator, token: "operator", fetch });
  const params = { platform_id: "ddh" };
  const { row_version, ...ddh } = await operator.getPlatform({ params });
  const address = `127.0.0.1:${(hooks.address() as AddressInfo).port}`;
  const { display_name, required_refs, version_ref } = ddh;
  await operator.putPlatform({
    params,
    headers: { "if-match": `"${row_version}"` },
    body: {
      display_name,
      required_refs,
      version_ref,
      callback_hosts: [address],
      callback_url: `http://${address}/done`,
    },
  });
  const body = { platform_id: "ddh", name: "governed", scopes: ["admin" as const] };
  partner = new Partner(gateway.url, (await operator.createKey({ body })).key);
  const reading = { platform_id: "ddh", name: "reading", scopes: ["read" as const] };
  readerKey = (await operator.createKey({ body: reading })).key;
  const bronze = path.join(fleet.dataDirectory, "storage/bronze/ddh");
  await mkdir(bronze, { recursive: true });
  for (const [name, bytes] of Object.entries(files))
    await writeFile(path.join(bronze, name), bytes);
}, slow);
afterAll(async () => {
  hooks.close();
  await fleet.stop();
  await database.drop();
});

async function look(address: string, as: Viewer) {
  const url = address.startsWith("/") ? orchestrator + address : address;
  const answer = await fetch(url, {
    headers: as === "anonymous" ? {} : { authorization: `Bearer ${as}` },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const media = answer.headers.get("content-type") ?? "";
  // A curator is told where files lie; all others are clients of the services.
  if (as === "viewer" || as === "anonymous") {
    answers.push(`${address} ${JSON.stringify([...answer.headers])}${bytes.toString("latin1")}`);
  }
  return { status: answer.status, media, bytes };
}
const json = async <Body>(address: string, as: Viewer) =>
  JSON.parse((await look(address, as)).bytes.toString()) as Body;

interface Item {
  readonly id: string;
  readonly collection: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly assets: Readonly<Record<string, { readonly href: string }>>;
}
const items = async (as: Viewer) =>
  (await json<{ features: Item[] }>("/stac/search?limit=200", as)).features;
const itemsOf = async (assetId: string, as: Viewer) =>
  (await items(as)).filter(({ id }) => id.startsWith(assetId));
const collections = async (as: Viewer) =>
  (await json<{ collections: { id: string }[] }>("/stac/collections", as)).collections;

interface Services {
  readonly services: readonly { tiles: string; tilejson: string; map: string }[];
}
const servicesOf = (assetId: string) =>
  partner.call<Services>("GET", `/api/assets/${assetId}/services`);

/** The addresses of an asset and of its items, of which each shows something of it. */
function doorsOf(assetId: string, made: readonly Item[]): string[] {
  const tiles = `/tiles/${assetId}`;
  const ofAsset = ["", "/item", "/info", "/statistics", "/preview", "/point/10.5,0.5", "/map"];
  const features = ["", "/items", "/queryables"].map((end) => `/features/${assetId}${end}`);
  const ofItems = made.flatMap(({ id, collection, assets }) => {
    const item = `/stac/collections/${collection}/items/${id}`;
    const ends = ["", "/info", "/statistics", "/preview", "/point/10.5,0.5", "/map", "/features"];
    return [
      ...ends.map((end) => item + end),
      `${item}/WebMercatorQuad/tilejson.json`,
      `${item}/tiles/WebMercatorQuad/3/4/3.png`,
      ...Object.keys(assets).map((key) => `${item}/assets/${key}`),
      `/stac/collections/${collection}`,
      `/stac/collections/${collection}/items`,
      `/stac/collections/${collection}/queryables`,
      `/stac/collections/${collection}/WebMercatorQuad/tilejson.json`,
      `/stac/collections/${collection}/tiles/WebMercatorQuad/3/4/3.png`,
    ];
  });
  return [
    ...ofAsset.map((end) => tiles + end),
    `${tiles}/WebMercatorQuad/tilejson.json`,
    `${tiles}/tiles/WebMercatorQuad/3/4/3.png`,
    `/features/${assetId}/tiles/WebMercatorQuad/3/4/3.mvt`,
    ...features,
    ...ofItems,
  ];
}

/** The status of a tile of the gateway, for a key that may read. */
async function gatewayTile(assetId: string, query = ""): Promise<number> {
  const headers = { authorization: `Bearer ${readerKey}` };
  const at = `/api/assets/${assetId}/tiles/3/4/3${query}`;
  const answer = await fetch(gatewayUrl + at, { headers });
  answers.push(`${at} ${JSON.stringify([...answer.headers])}${await answer.text()}`);
  return answer.status;
}

async function expectHidden(assetId: string, made: readonly Item[]): Promise<void> {
  const seen: string[] = [];
  expect(await gatewayTile(assetId)).toBe(404);
  expect(await gatewayTile(assetId, "?preview=true&version=0")).toBe(403);
  for (const door of new Set(doorsOf(assetId, made))) {
    for (const as of ["viewer", "anonymous"] as const) {
      const { status } = await look(door, as);
      if (status !== (as === "viewer" ? 404 : 401)) seen.push(`${as} ${door} ${status}`);
    }
  }
  expect(seen).toEqual([]);
}

describe("the workflows that partners see", () => {
  it("are all submitted here", async () => {
    const { processes } = await partner.call<{ processes: { id: string }[] }>(
      "GET",
      "/api/ogc/processes?limit=500",
    );
    const tried = new Set(Object.values(cases).map(({ workflow_id }) => workflow_id));
    expect(processes.map(({ id }) => id).toSorted()).toEqual([...tried].toSorted());
  });

  it(
    "run to their end",
    async () => {
      const accepted = await Promise.all(
        Object.entries(cases).map(async ([name, { workflow_id, inputs }]) => {
          const body = {
            workflow_id,
            platform_refs: { dataset_id: name, resource_id: "viewer" },
            version_label: "2026",
            inputs,
          };
          return [
            name,
            await partner.call<PartnerAccepted>("POST", "/api/platform/submit", body, 202),
          ];
        }),
      );
      for (const [name, answer] of accepted as [string, PartnerAccepted][]) {
        submitted.set(name, answer);
        await partner.ended(answer.request_id, 240_000);
      }
    },
    slow,
  );
});

describe.each(Object.entries(cases))("%s", (name, { items: count, reprocess }) => {
  let made: Item[];
  let asset: string;

  it("shows nothing before its approval, nor after a rejection", async () => {
    const { asset_id, request_id } = submitted.get(name)!;
    asset = asset_id;
    made = await itemsOf(asset, "curator");
    expect(made).toHaveLength(count);
    for (const { id, properties } of made) {
      expect(id).toMatch(new RegExp(`^${asset}-v0(?:-ddh-scene-[12])?$`));
      expect(properties).toMatchObject({
        "platform:dataset_id": name,
        "platform:resource_id": "viewer",
        "platform:version_id": "2026",
        "platform:request_id": request_id,
      });
    }
    expect((await servicesOf(asset)).services).toEqual([]);
    expect(await itemsOf(asset, "viewer")).toEqual([]);
    await expectHidden(asset, made);
    await partner.decide(asset, 0, "reject", { reason: "to see what happens" });
    await expectHidden(asset, made);
  });

  it("is served after its approval, to whom it is cleared for", async () => {
    await partner.decide(asset, 0, "approve", { clearance: "ouo" });
    const { services } = await servicesOf(asset);
    expect(services).toHaveLength(count === 0 ? 0 : 1);
    const shown = await itemsOf(asset, "viewer");
    expect(shown.map(({ id }) => id)).toEqual(made.map(({ id }) => id));
    expect(await itemsOf(asset, "anonymous")).toEqual([]);
    if (count > 0) expect(await gatewayTile(asset)).toBe(200);
    for (const { tilejson, map } of services) {
      expect((await look(map, "viewer")).status).toBe(200);
      const { tiles, bounds, maxzoom } = await json<{
        tiles: [string];
        bounds: [number, number, number, number];
        maxzoom: number;
      }>(tilejson, "viewer");
      const z = Math.min(maxzoom, 8);
      const [lon, lat] = [bounds[0] + 0.4, (bounds[1] + bounds[3]) / 2 + 0.1];
      const { x, y } = tileAt(lon, lat, z);
      const address = tiles[0].replace("{z}", String(z)).replace("{x}", String(x));
      const tile = await look(address.replace("{y}", String(y)), "viewer");
      expect([tile.status, tile.media.split("/")[0]]).toEqual([
        200,
        vectorTiles.has(name) ? "application" : "image",
      ]);
      expect((await look(tilejson, "anonymous")).status).toBe(401);
    }
    for (const { assets } of shown) {
      for (const { href } of Object.values(assets)) {
        expect([href, (await look(href, "viewer")).status]).toEqual([href, 200]);
        expect((await look(href, "anonymous")).status).toBe(401);
      }
    }
    for (const door of new Set(doorsOf(asset, shown))) await look(door, "viewer");
  });

  it.skipIf(reprocess !== true)(
    "is the same items after it was processed again, which stay approved",
    async () => {
      const at = `/api/assets/${asset}/versions/0/reprocess`;
      const { request_id } = await partner.call<PartnerAccepted>("POST", at, {}, 202);
      await partner.ended(request_id, 120_000);
      const again = await itemsOf(asset, "viewer");
      // In no order: items without a time of their own have the time of writing.
      const idsOf = (given: readonly Item[]) => given.map(({ id }) => id).toSorted();
      expect(idsOf(again)).toEqual(idsOf(made));
      for (const { properties } of again) {
        expect(properties["platform:request_id"]).toBe(request_id);
      }
      expect(await itemsOf(asset, "curator")).toHaveLength(count);
    },
    slow,
  );

  it("is gone after a withdrawal, and for good after it is deleted", async () => {
    await partner.decide(asset, 0, "withdraw", { reason: "a complaint" });
    expect((await servicesOf(asset)).services).toEqual([]);
    expect(await itemsOf(asset, "viewer")).toEqual([]);
    await expectHidden(asset, made);
    await partner.decide(asset, 0, "unpublish", {});
    await expectHidden(asset, made);
    // The workflow unpublish_version removes items and files.
    await waitFor(async () => (await itemsOf(asset, "curator")).length === 0, {
      what: "the removal of the items",
      timeoutMs: 60_000,
    });
    const { versions } = await partner.call<PartnerAsset>("GET", `/api/assets/${asset}`);
    expect(versions).toHaveLength(1);
  });
});

describe("all of it", () => {
  it("leaves collections that readers do not see, and no files", async () => {
    expect(await collections("viewer")).toEqual([]);
    expect((await collections("curator")).map(({ id }) => id).toSorted()).toEqual([
      "ddh",
      "hexagons",
      "ingested",
      "processed",
      "scenes",
      "tiled",
    ]);
    const left = await waitFor(
      async () => {
        const { rows } = await database.db.query(
          `SELECT FROM dagapp.dag_jobs WHERE status IN ('pending', 'running')`,
        );
        return rows.length === 0 && "none";
      },
      { what: "the end of all jobs", timeoutMs: 60_000 },
    );
    expect(left).toBe("none");
    const { rows } = await database.db.query(
      `SELECT FROM dagapp.stac_items UNION ALL SELECT FROM dagapp.stac_revision_items`,
    );
    expect(rows).toHaveLength(0);
    const silver = path.join(fleet.dataDirectory, "storage/silver");
    const entries = await readdir(silver, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([]);
  });

  it("shows no job id, in answers of both servers and in callbacks", async () => {
    const { rows } = await database.db.query<{ job_id: string }>(
      "SELECT job_id FROM dagapp.dag_jobs",
    );
    expect(rows.length).toBeGreaterThan(Object.keys(cases).length);
    await waitFor(() => called.length >= Object.keys(cases).length, {
      what: "the callbacks",
      timeoutMs: 30_000,
    });
    const said = [...partner.answers, ...answers, ...called];
    for (const { job_id } of rows) {
      const first = said.find((text) => text.includes(job_id));
      expect(first?.slice(0, 1500)).toBeUndefined();
    }
  });

  it("is refused to another platform: its collections, and its files", async () => {
    const body = { platform_id: "geonode", name: "another", scopes: ["admin" as const] };
    const { key } = await operator.createKey({ body });
    const other = new Partner(gatewayUrl, key);
    const submit = (inputs: JsonObject) =>
      other.call<{ errors: { pointer: string; code: string }[] }>(
        "POST",
        "/api/platform/submit",
        {
          workflow_id: "raster_ingest",
          platform_refs: { uuid: "1" },
          version_label: "1",
          inputs,
        },
        400,
      );
    expect(
      (await submit({ blob_path: "bronze/ddh/small.tif", collection_id: "scenes" })).errors,
    ).toMatchObject([
      { pointer: "/inputs/blob_path", code: "BLOB_OUTSIDE" },
      { pointer: "/inputs/collection_id", code: "COLLECTION_NOT_YOURS" },
    ]);
  });
});
