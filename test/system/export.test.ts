/**
 * Public data leave the platform: the package of a version with its static catalogue, a second
 * database, and files in a format of choice.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/core/api/client.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import { squaresFile } from "../support/layers.ts";
import { run, temporaryFolder } from "../support/processes.ts";
import { hashToken } from "../../src/adapters/http/tokens.ts";
import type { Program } from "../support/programs.ts";
import { Fleet } from "../support/programs.ts";
import { stacSchemas } from "../support/stac-schemas.ts";
import { writeTiff } from "../support/tiff.ts";
import { waitFor } from "../support/wait.ts";

const slow = 120_000;
let database: TestDatabase;
let outside: TestDatabase;
let fleet: Fleet;
let client: Client;
let url: string;
let worker: Program;
let vector: string;
let tiled: string;

beforeAll(async () => {
  [database, outside] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  fleet = new Fleet(database.url);
  const orchestrator = await fleet.orchestrator({ EXTERNAL_DATABASE_URL: outside.url });
  ({ client, url } = orchestrator);
  worker = await fleet.worker({ WORKER_CONCURRENCY: "4", WORKER_PORT: "0", WORKER_ID: "w1" });
  const bronze = path.join(fleet.dataDirectory, "storage/bronze/ddh");
  await mkdir(bronze, { recursive: true });
  await writeFile(path.join(bronze, "squares.geojson"), squaresFile());
  const size = 1280;
  const band = Uint8Array.from({ length: size * size }, (_, at) => 1 + (at % 250));
  const image = { width: size, height: size, block: 256, bands: [band], compression: "none" };
  const large = writeTiff({
    images: [image as never],
    epsg: 4326,
    origin: [20, 1],
    pixel: [1 / size, 1 / size],
  });
  await writeFile(path.join(bronze, "large.tif"), large);
  [vector, tiled] = await Promise.all([
    submit("squares", "vector_etl", { blob_path: "ddh/squares.geojson", container: "bronze" }),
    submit("large", "raster_process", {
      blob_path: "bronze/ddh/large.tif",
      collection_id: "scenes",
      tile_threshold_mb: 1,
      tile_size_mb: 0.5,
    }),
  ]);
}, slow);
afterAll(async () => {
  await fleet.stop();
  await Promise.all([database.drop(), outside.drop()]);
});

async function submit(dataset: string, workflow_id: string, inputs: JsonObject): Promise<string> {
  const { asset_id, request_id } = await client.submitAsset({
    body: {
      platform_id: "ddh",
      platform_refs: { dataset_id: dataset, resource_id: "main" },
      version_label: "2026",
      workflow_id,
      inputs,
    },
  });
  const ended = await waitFor(
    async () => {
      const request = await client.getRequest({ params: { request_id } });
      return request.completed_at !== null && request;
    },
    { what: `the end of ${dataset}`, timeoutMs: 90_000, isFinal: true },
  );
  expect(ended).toMatchObject({ status: "completed" });
  return asset_id;
}

const storage = (...parts: string[]) => path.join(fleet.dataDirectory, "storage", ...parts);
const versionOf = async (asset_id: string) =>
  (await client.getAsset({ params: { asset_id } })).versions[0]!;

async function filesBelow(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

interface Linked {
  readonly id: string;
  readonly links: readonly { rel: string; href: string }[];
  readonly assets?: Readonly<Record<string, Record<string, unknown> & { href: string }>>;
}
const readJson = async (file: string) => JSON.parse(await readFile(file, "utf8")) as Linked;

/** Follows the links of one kind, which are relative to the file that they stand in. */
const follow = (file: string, from: Linked, rel: string) =>
  from.links
    .filter((link) => link.rel === rel)
    .map(({ href }) => path.resolve(path.dirname(file), href));

describe("public clearance", () => {
  it(
    "exports everything that a version has, in the gold and in the external zone",
    async () => {
      for (const asset_id of [vector, tiled]) {
        await client.approveVersion({
          params: { asset_id, version_ordinal: 0 },
          body: { clearance: "public" },
        });
        await waitFor(async () => (await versionOf(asset_id)).export_state === "completed", {
          what: "the export",
          timeoutMs: 60_000,
        });
      }
      expect(await filesBelow(storage("gold", vector))).toEqual([
        `v0/r1/${vector}-v0/${vector}-v0.json`,
        `v0/r1/${vector}-v0/features.fgb`,
        `v0/r1/${vector}-v0/features.parquet`,
        "v0/r1/collection.json",
        "v0/r1/manifest.json",
      ]);
      const tiles = (await filesBelow(storage("gold", tiled))).filter((name) =>
        name.endsWith(".tif"),
      );
      expect(tiles.length).toBeGreaterThan(1);
      for (const asset of [vector, tiled]) {
        expect(await filesBelow(storage("external", asset))).toEqual(
          await filesBelow(storage("gold", asset)),
        );
        const version = await versionOf(asset);
        // Our own copy has no run of Azure Data Factory.
        expect(version.adf_run_id).toBeNull();
        expect(existsSync(storage(version.external_blob_path!))).toBe(true);
      }
    },
    slow,
  );

  it("writes a manifest with the hash of every file", async () => {
    for (const asset of [vector, tiled]) {
      const folder = storage("external", asset, "v0/r1");
      const { files } = JSON.parse(await readFile(path.join(folder, "manifest.json"), "utf8")) as {
        files: { path: string; bytes: number; sha256: string }[];
      };
      expect([...files.map((file) => file.path), "manifest.json"].toSorted()).toEqual(
        await filesBelow(folder),
      );
      for (const file of files) {
        const bytes = await readFile(path.join(folder, file.path));
        const sha256 = createHash("sha256").update(bytes).digest("hex");
        expect([file.path, bytes.length, sha256]).toEqual([file.path, file.bytes, file.sha256]);
      }
    }
  });

  it("shows no job id in the names and documents of the external zone", async () => {
    const names = await filesBelow(storage("external"));
    const documents = names.filter((name) => name.endsWith(".json"));
    const texts = await Promise.all(
      documents.map((name) => readFile(storage("external", name), "utf8")),
    );
    const { rows } = await database.db.query<{ job_id: string }>(
      "SELECT job_id FROM dagapp.dag_jobs",
    );
    expect(rows.length).toBeGreaterThan(3);
    const said = [...names, ...texts].join("\n");
    expect(rows.filter(({ job_id }) => said.includes(job_id))).toEqual([]);
  });

  it("is traced from the submitted file to the external zone, by the command line", async () => {
    const { stdout, status } = await run(["lineage", "bronze/ddh/squares.geojson"], {
      env: { ORCHESTRATOR_URL: url },
    });
    expect(status).toBe(0);
    const { external_blob_path } = await versionOf(vector);
    const lines = stdout.split("\n");
    expect(lines[0]).toBe("file bronze/ddh/squares.geojson");
    for (const part of [`version ${vector}/0`, `exported_as file ${external_blob_path!}`]) {
      expect(lines.find((line) => line.includes(part))).toMatch(/^ +→ /);
    }
    const back = await run(["lineage", vector, "--direction", "up"], {
      env: { ORCHESTRATOR_URL: url },
    });
    expect(back.stdout).toMatch(/^ +← \w+ file bronze\/ddh\/squares\.geojson$/m);
    const none = await run(["lineage", "bronze/none.tif"], { env: { ORCHESTRATOR_URL: url } });
    expect([none.status, none.stderr]).toEqual([
      1,
      expect.stringContaining("Nothing is known of the path bronze/none.tif."),
    ]);
  });

  it.each(["gold", "external"])(
    "makes the %s zone a static catalogue, from its root to every file",
    async (zone) => {
      const problemsOf = stacSchemas(fixture("stac-schemas"));
      const root = storage(zone, "catalog.json");
      const collections = follow(root, await readJson(root), "child");
      expect(collections).toHaveLength(2);
      let assets = 0;
      for (const file of collections) {
        const collection = await readJson(file);
        expect(problemsOf(collection)).toEqual([]);
        for (const itemFile of follow(file, collection, "item")) {
          const item = await readJson(itemFile);
          expect(problemsOf(item)).toEqual([]);
          expect(follow(itemFile, item, "collection")).toEqual([file]);
          for (const asset of Object.values(item.assets ?? {})) {
            const bytes = await readFile(path.resolve(path.dirname(itemFile), asset.href));
            expect(asset["file:size"]).toBe(bytes.length);
            assets++;
          }
          expect(JSON.stringify(item)).not.toMatch(/rmhdag:|silver\//);
        }
      }
      expect(assets).toBeGreaterThan(3);
    },
  );

  it.skipIf(!hasPystac())("is read by pystac from its folder (needs pystac)", () => {
    const program = `
import sys, pystac
root = pystac.Catalog.from_file(sys.argv[1])
items = list(root.get_items(recursive=True))
print(len(list(root.get_children())), len(items), sum(len(i.assets) for i in items))
import os
assert all(os.path.exists(a.get_absolute_href()) for i in items for a in i.assets.values())
`;
    const root = storage("gold", "catalog.json");
    const said = execFileSync("python3", ["-c", program, root]).toString();
    expect(said).toMatch(/^2 2 \d+/);
  });

  it("writes features that a reader of GeoParquet and GDAL find again", async () => {
    const folder = storage("external", vector, "v0/r1", `${vector}-v0`);
    const file = await asyncBufferFromFile(path.join(folder, "features.parquet"));
    const rows = await parquetReadObjects({ file });
    expect(rows.find((row) => row["name"] === "square 1")).toMatchObject({
      name: "square 1",
      bbox: { xmin: 2, ymin: 0, xmax: 3, ymax: 1 },
    });
    expect(rows).toHaveLength(3);
  });
});

describe("files in a format of choice", () => {
  it(
    "are downloaded by the command line, from the workflow export_layer",
    async () => {
      const folder = await temporaryFolder();
      const exported = (asset: string, format: string, ...more: string[]) =>
        run(
          ["assets", "export", asset, "--format", format, "--output", folder, "--json", ...more],
          {
            env: { ORCHESTRATOR_URL: url },
          },
        );
      const [layer, tiles, wrong, archive, deep] = await Promise.all([
        exported(vector, "geopackage"),
        exported(tiled, "cog"),
        exported(tiled, "pmtiles"),
        exported(vector, "pmtiles", "--max-zoom", "3"),
        exported(vector, "geopackage", "--max-zoom", "3"),
      ]);
      expect(layer).toMatchObject({ status: 0 });
      const { files } = JSON.parse(layer.stdout) as { files: [string] };
      expect((await readFile(files[0])).subarray(0, 15).toString()).toBe("SQLite format 3");
      expect((JSON.parse(tiles.stdout) as { files: string[] }).files.length).toBeGreaterThan(1);
      expect(wrong.status).toBe(1);
      expect(wrong.stderr).toContain(
        "The version has no table of features, and pmtiles is for features only. It can be written as: cog.",
      );
      const [pmtiles] = (JSON.parse(archive.stdout) as { files: [string] }).files;
      // Bytes 100 and 101 of PMTiles 3: its first and its last zoom.
      expect([...(await readFile(pmtiles)).subarray(100, 102)]).toEqual([0, 3]);
      expect(deep.status).not.toBe(0);
      expect(deep.stderr).toContain("is for the format pmtiles only");
    },
    slow,
  );
});

describe("a second database", () => {
  const inside = async () => {
    const { rows } = await outside.db.query<{ asset_id: string; items: number; title: string }>(
      `SELECT asset_id, (SELECT count(*)::int FROM rmhdag_public.items i WHERE i.asset_id = l.asset_id)
         AS items, layer ->> 'display_name' AS title FROM rmhdag_public.layers l`,
    );
    return rows;
  };
  const publish = (asset_id: string) =>
    client.runCommand({ params: { name: "metadata.publish_external" }, body: { asset_id } });

  it("has the layer and its items, the same however often they are published", async () => {
    const params = { asset_id: vector };
    await expect(publish(vector)).rejects.toMatchObject({ code: "METADATA_NOT_FOUND" });
    const display_name = "Squares";
    await client.putLayerMetadata({ params, body: { display_name } });
    for (let time = 0; time < 2; time++) {
      expect((await publish(vector)).result).toMatchObject({ version_ordinal: 0, items: 1 });
    }
    expect(await inside()).toEqual([{ asset_id: vector, items: 1, title: "Squares" }]);
    const { rows } = await outside.db.query<{ item: Linked }>(
      "SELECT item FROM rmhdag_public.items",
    );
    expect(JSON.stringify(rows[0]!.item)).not.toMatch(/rmhdag:table|rmhdag:path/);
  });

  it(
    "loses them with the clearance, as the zones lose the package",
    async () => {
      const clearance = "ouo";
      await client.setClearance({ params: { asset_id: vector }, body: { clearance } });
      await waitFor(async () => (await inside()).length === 0, { what: "the withdrawal" });
      await waitFor(async () => (await versionOf(vector)).export_state === "withdrawn", {
        what: "the end of adf_withdraw",
        timeoutMs: 30_000,
      });
      for (const zone of ["gold", "external"]) {
        expect(await filesBelow(storage(zone, vector))).toEqual([]);
        const root = await readJson(storage(zone, "catalog.json"));
        expect(root.links.filter(({ rel }) => rel === "child")).toHaveLength(1);
      }
      await expect(publish(vector)).rejects.toMatchObject({ code: "TRANSITION_REFUSED" });
    },
    slow,
  );
});

describe("a service of others", () => {
  it("is registered, checked, listed as a layer, and forgotten", async () => {
    const params = { service_id: "relief" };
    const body = { name: "Relief", kind: "xyz" as const, url: `${url}/livez?tile={z}/{x}/{y}` };
    const put = await client.putExternalService({ params, body });
    // The orchestrator itself lies in a private network, which is not allowed here.
    expect(put).toMatchObject({ health: "failing", failures: 1, updated_by: "loopback" });
    const { items } = await client.listExternalServices({ query: { layers: "true" } });
    expect(items.map(({ service_id }) => service_id)).toEqual(["relief"]);
    expect((await client.checkExternalService({ params })).failures).toBe(2);
    expect(await client.deleteExternalService({ params })).toEqual({ deleted: true });
    await expect(client.checkExternalService({ params })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("a worker with a port of its own", () => {
  it("answers probes, and operators through the gateway", async () => {
    const port = /probes are answered .*"port":(\d+)/.exec(worker.output())?.[1];
    const address = `http://127.0.0.1:${port ?? "none"}`;
    const gateway = await fleet.gateway(
      { url },
      {
        WORKER_URL: address,
        GATEWAY_OPERATOR_TOKENS: `operator:operate:${hashToken("operator")}`,
      },
    );
    const get = async (path: string) => {
      const headers = { authorization: "Bearer operator" };
      return (await fetch(gateway.url + path, { headers })).json();
    };
    expect(await get("/api/proxy/worker/health")).toMatchObject({
      status: "ok",
      worker_id: "w1",
      slots: 4,
    });
    expect(await get("/api/proxy/health")).toEqual({
      status: "ok",
      targets: { orchestrator: "ok", worker: "ok" },
    });
  });
});

function hasPystac(): boolean {
  try {
    execFileSync("python3", ["-c", "import pystac"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
