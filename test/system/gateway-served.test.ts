/**
 * What partners and their clients see on a map, from real files through the real workflows: which
 * bytes are served at an asset's address follows every decision, at once.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashToken } from "../../src/adapters/http/tokens.ts";
import type { Client } from "../../src/core/api/client.ts";
import { createClient } from "../../src/core/api/client.ts";
import { resolutionAt } from "../../src/core/serving/web-mercator.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { PartnerAsset } from "../support/partner.ts";
import { Partner } from "../support/partner.ts";
import { Fleet } from "../support/programs.ts";
import { readTile } from "../support/read-tile.ts";
import { writeTiff } from "../support/tiff.ts";
import { waitFor } from "../support/wait.ts";

const slow = 180_000;
const access = {
  operator: "read+operate+curate+admin",
  gateway: "read+operate+curate",
  curator: "read+curate",
  viewer: "read",
};
type Viewer = keyof typeof access | "anonymous";

let database: TestDatabase;
let fleet: Fleet;
let orchestrator: string;
let operator: Client;
let partner: Partner;

/** Exactly the tile 10/512/511, the same way up: red, green and blue change along x, y and nowhere. */
function photograph(blue: number): Uint8Array {
  const size = 256;
  const pixel = resolutionAt(10);
  const along = (value: (x: number, y: number) => number) =>
    Uint8Array.from({ length: size * size }, (_, at) => value(at % size, Math.floor(at / size)));
  const bands = [along((x) => 1 + (x % 255)), along((_, y) => 1 + (y % 255)), along(() => blue)];
  return writeTiff({
    images: [{ width: size, height: size, block: 256, bands }],
    epsg: 3857,
    origin: [0, size * pixel],
    pixel: [pixel, pixel],
  });
}

const fields = (names: readonly string[]) => ({
  type: "FeatureCollection",
  features: names.map((name, index) => ({
    type: "Feature",
    properties: { name },
    geometry: {
      type: "Polygon",
      coordinates: [[0, 1, 1, 0, 0].map((x, corner) => [index * 2 + x, [0, 0, 1, 1, 0][corner]!])],
    },
  })),
});

const files = {
  "v1.tif": photograph(40),
  "v2.tif": photograph(200),
  "fields.geojson": Buffer.from(JSON.stringify(fields(["north", "south"]))),
};
const hashOf = (name: keyof typeof files) =>
  `1220${createHash("sha256").update(files[name]).digest("hex")}`;

beforeAll(async () => {
  database = await createTestDatabase();
  fleet = new Fleet(database.url);
  const tokens = Object.entries(access).map(([name, may]) => `${name}:${may}:${hashToken(name)}`);
  const started = await fleet.orchestrator({
    RMHDAG_OPEN_ON_LOOPBACK: "false",
    DAG_SERVICE_TOKENS: tokens.join(","),
  });
  orchestrator = started.url;
  await fleet.worker({ WORKER_CONCURRENCY: "2" });
  const gateway = await fleet.gateway(started, { DAG_SERVICE_TOKEN: "gateway" });
  operator = createClient({ baseUrl: orchestrator, token: "operator", fetch });
  const body = { platform_id: "ddh", name: "served", scopes: ["admin" as const] };
  partner = new Partner(gateway.url, (await operator.createKey({ body })).key);
  const bronze = path.join(fleet.dataDirectory, "storage/bronze/ddh");
  await mkdir(bronze, { recursive: true });
  for (const [name, bytes] of Object.entries(files))
    await writeFile(path.join(bronze, name), bytes);
}, slow);
afterAll(async () => {
  await fleet.stop();
  await database.drop();
});

async function look(address: string, as: Viewer) {
  const headers: Record<string, string> =
    as === "anonymous" ? {} : { authorization: `Bearer ${as}` };
  const answer = await fetch(orchestrator + address, { headers });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  return { status: answer.status, media: answer.headers.get("content-type"), bytes };
}

const stored = (blobPath: string) => readFile(path.join(fleet.dataDirectory, "storage", blobPath));

interface Services {
  readonly services: readonly { readonly version: string; readonly tiles: string }[];
  readonly previews: readonly { readonly version: string; readonly tiles: string }[];
}

const servicesOf = (assetId: string) =>
  partner.call<Services>("GET", `/api/assets/${assetId}/services`);
const at = (tiles: string, z: number, x: number, y: number) =>
  tiles.replace("{z}", String(z)).replace("{x}", String(x)).replace("{y}", String(y));

describe("a raster that is submitted", () => {
  const submission = (label: string, blob_path: keyof typeof files) => ({
    workflow_id: "raster_ingest",
    platform_refs: { dataset_id: "photographs", resource_id: "viewer" },
    version_label: label,
    inputs: { blob_path: `bronze/ddh/${blob_path}`, collection_id: "photographs" },
  });
  let asset: string;
  const tile = (version: string) =>
    `/tiles/${asset}/tiles/WebMercatorQuad/10/512/511.png?version=${version}`;
  const versions = async () =>
    (await partner.call<PartnerAsset>("GET", `/api/assets/${asset}`)).versions;

  it(
    "is seen by its curator alone until it is approved",
    async () => {
      ({ asset_id: asset } = await partner.submit(submission("V1", "v1.tif")));
      const { services, previews } = await servicesOf(asset);
      expect(services).toEqual([]);
      const preview = at(previews[0]!.tiles, 10, 512, 511);
      expect(await look(preview, "curator")).toMatchObject({ status: 200 });
      expect((await look(preview, "viewer")).status).toBe(403);
      expect((await look(tile("latest"), "viewer")).status).toBe(404);
      expect((await look(tile("latest"), "anonymous")).status).toBe(401);

      await partner.decide(asset, 0, "approve", { clearance: "ouo" });
      const shown = await look(tile("latest"), "viewer");
      expect(shown).toMatchObject({ status: 200, media: "image/png" });
      expect((await look(tile("latest"), "anonymous")).status).toBe(401);
      // An ordinal has an address only where all versions are exposed.
      expect((await look(tile("0"), "viewer")).status).toBe(404);
    },
    slow,
  );

  it(
    "keeps its tiles, byte for byte, when the next version becomes the latest",
    async () => {
      await partner.call("PUT", `/api/assets/${asset}/exposure`, { exposure: "all-versions" });
      const first = await look(tile("0"), "viewer");
      expect(first.status).toBe(200);
      const { version_ordinal } = await partner.submit(submission("V2", "v2.tif"));
      expect(version_ordinal).toBe(1);
      expect((await look(tile("latest"), "viewer")).bytes).toEqual(first.bytes);
      expect((await look(tile("1"), "viewer")).status).toBe(404);

      await partner.decide(asset, 1, "approve", { clearance: "ouo" });
      const second = await look(tile("1"), "viewer");
      expect(second.status).toBe(200);
      expect(second.bytes).not.toEqual(first.bytes);
      expect((await look(tile("latest"), "viewer")).bytes).toEqual(second.bytes);
      expect((await look(tile("0"), "viewer")).bytes).toEqual(first.bytes);
    },
    slow,
  );

  it("is gone from its address with its approval, and the one before is the latest again", async () => {
    const first = await look(tile("0"), "viewer");
    await partner.decide(asset, 1, "withdraw", { reason: "clouds" });
    expect((await look(tile("1"), "viewer")).status).toBe(404);
    expect((await look(tile("latest"), "viewer")).bytes).toEqual(first.bytes);
    expect((await look(tile("1") + "&preview=true", "curator")).status).toBe(200);
  });

  it(
    "is copied to the external zone when it becomes public, and visible without a key",
    async () => {
      await partner.decide(asset, 1, "approve", { clearance: "public" });
      const external = await waitFor(
        async () => {
          const { export_state, external_blob_path } = (await versions())[1]!;
          return export_state === "completed" && external_blob_path;
        },
        { what: "the export", timeoutMs: 30_000 },
      );
      const { versions: ours } = await operator.getAsset({ params: { asset_id: asset } });
      expect(external).toMatch(/^external\//);
      expect(await stored(external)).toEqual(await stored(ours[1]!.blob_path!));
      expect((await look(tile("latest"), "anonymous")).status).toBe(200);

      await partner.call("PUT", `/api/assets/${asset}/clearance`, { clearance: "ouo" });
      expect((await look(tile("latest"), "anonymous")).status).toBe(401);
    },
    slow,
  );

  it(
    "is known by the content of the file, also when it is submitted again",
    async () => {
      await partner.submit(submission("V3", "v1.tif"));
      const [first, second, third] = await versions();
      expect(first).toMatchObject({ content_hash: hashOf("v1.tif"), same_content_as: null });
      expect(second).toMatchObject({ content_hash: hashOf("v2.tif"), same_content_as: null });
      expect(third).toMatchObject({ content_hash: hashOf("v1.tif"), same_content_as: 0 });
      const seen = await operator.getAsset({ params: { asset_id: asset } });
      expect(seen.versions.map((each) => each.same_content_as)).toEqual([null, null, 0]);
    },
    slow,
  );
});

describe("a vector file that is submitted", () => {
  it(
    "is served as features and as tiles, under the same rules",
    async () => {
      const { asset_id } = await partner.submit({
        workflow_id: "vector_etl",
        platform_refs: { dataset_id: "fields", resource_id: "viewer" },
        version_label: "2026",
        inputs: { blob_path: "ddh/fields.geojson", collection_id: "fields" },
      });
      const features = `/features/${asset_id}/items`;
      expect((await look(features, "viewer")).status).toBe(404);
      expect((await look(`${features}?preview=true`, "curator")).status).toBe(200);
      const { versions } = await partner.decide(asset_id, 0, "approve", { clearance: "ouo" });
      expect(versions[0]).toMatchObject({ content_hash: hashOf("fields.geojson") });

      const { bytes } = await look(features, "viewer");
      const found = JSON.parse(Buffer.from(bytes).toString()) as {
        features: { properties: { name: string } }[];
      };
      const names = found.features.map(({ properties }) => properties.name);
      expect(names.sort()).toEqual(["north", "south"]);
      expect((await look(features, "anonymous")).status).toBe(401);

      const { services } = await servicesOf(asset_id);
      const tile = await look(at(services[0]!.tiles, 5, 16, 15), "viewer");
      expect(tile.status).toBe(200);
      const { default: layer } = readTile(tile.bytes);
      expect(layer!.features).toHaveLength(2);

      await partner.decide(asset_id, 0, "withdraw", { reason: "borders" });
      expect((await look(features, "viewer")).status).toBe(404);
      expect((await look(at(services[0]!.tiles, 5, 16, 15), "viewer")).status).toBe(404);
    },
    slow,
  );
});

describe("all of it", () => {
  it("shows the partner no job", async () => {
    const { rows } = await database.db.query<{ job_id: string }>(
      "SELECT job_id FROM dagapp.dag_jobs",
    );
    expect(rows.length).toBeGreaterThan(4);
    for (const { job_id } of rows) {
      expect(partner.answers.filter((text) => text.includes(job_id))).toEqual([]);
    }
  });
});
