import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { access, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import { upsertItems } from "../../src/adapters/postgres/repositories/catalogue.ts";
import type { Storage } from "../../src/adapters/storage/storage.ts";
import type { StacItem } from "../../src/core/catalogue/stac.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import { halfWorld, toMercator } from "../../src/core/serving/web-mercator.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import { hasGdal } from "../support/gdal.ts";
import type { Orchestrator } from "../support/programs.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { readTile } from "../support/read-tile.ts";
import { itemOf } from "../support/stac.ts";
import { noOpenssl } from "../support/tls-postgres.ts";

const cogMedia = "image/tiff; application=geotiff; profile=cloud-optimized";

/** A server of files in parts, with a certificate of its own. */
async function serveFiles(files: Readonly<Record<string, () => Uint8Array>>) {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-https-"));
  const [cert, key] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
  const name = ["-subj", "/CN=files", "-addext", "subjectAltName=IP:127.0.0.1"];
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...name];
  execFileSync("openssl", [...args, "-keyout", key, "-out", cert], { stdio: "ignore" });
  let sent = 0;
  const options = { cert: readFileSync(cert), key: readFileSync(key) };
  const server = createServer(options, (request, response) => {
    const body = files[request.url ?? ""]?.();
    if (body === undefined) return response.writeHead(404).end();
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const part = from === undefined ? body : body.subarray(Number(from), Number(to) + 1);
    const range =
      from === undefined ? {} : { "content-range": `bytes ${from}-${to!}/${body.length}` };
    const headers = { etag: '"one"', "content-length": part.length, ...range };
    response.writeHead(from === undefined ? 200 : 206, headers);
    if (request.method === "HEAD") return response.end();
    sent += part.length;
    return response.end(part);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `https://${host}`,
    env: { NODE_EXTRA_CA_CERTS: cert, RMHDAG_SOURCE_HOSTS: host },
    sent: () => sent,
    close: async () => {
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe.skipIf(!hasGdal)("the catalogue's workflows, as real programs (needs GDAL)", () => {
  let database: TestDatabase;
  let fleet: Fleet;
  let orchestrator: Orchestrator;
  let storage: Storage;
  let remote: Awaited<ReturnType<typeof serveFiles>> | undefined;
  const cog = readFileSync(fixture("raster/valid_cog_uint16.tif"));
  /** A STAC item of another catalogue, with an asset beside it by a relative address. */
  const scene = JSON.stringify({
    ...itemOf("theirs", "scene", { properties: { "eo:cloud_cover": 3 } }),
    assets: { visual: { href: "../a/cog.tif", type: cogMedia, roles: ["visual"] } },
  });
  beforeAll(async () => {
    database = await createTestDatabase();
    fleet = new Fleet(database.url);
    const files = { "/a/cog.tif": () => cog, "/items/scene.json": () => Buffer.from(scene) };
    remote = noOpenssl === undefined ? await serveFiles(files) : undefined;
    orchestrator = await fleet.orchestrator(remote?.env);
    await fleet.worker(remote?.env);
    storage = createLocalStorage(path.join(fleet.dataDirectory, "storage"));
    for (const name of ["valid_cog_uint16", "antimeridian_utm60", "dem_float32_epsg2056"]) {
      const file = fixture(`raster/${name}.tif`);
      await storage.putFile(`silver/set/${name}.tif`, file);
    }
  });
  afterAll(async () => {
    await fleet.stop();
    await database.drop();
    await remote?.close();
  });

  async function run(workflow: string, inputs: JsonObject): Promise<JsonObject> {
    const job = await finished(orchestrator, await submit(orchestrator, workflow, inputs));
    expect([job.status, job.error]).toEqual(["completed", null]);
    return job.result_data!;
  }
  const search = async (): Promise<string[]> => {
    const answer = await fetch(`${orchestrator.url}/stac/search?sortby=id`);
    const { features } = (await answer.json()) as { features: { id: string }[] };
    return features.map(({ id }) => id);
  };
  const isThere = (name: string) =>
    access(path.join(fleet.dataDirectory, "storage/silver/set", name)).then(
      () => true,
      () => false,
    );

  it("catalogue a container once, and find nothing new the second time", async () => {
    const inputs = { collection_id: "set", prefix: "set/", batch_size: 2 };
    expect(await run("stac_catalog_container", inputs)).toMatchObject({ found: 3, known: 0 });
    expect(await run("stac_catalog_container", inputs)).toMatchObject({ found: 0, known: 3 });
    expect(await search()).toEqual([
      "set-antimeridian_utm60",
      "set-dem_float32_epsg2056",
      "set-valid_cog_uint16",
    ]);
  });

  it("show a COG of another server without a copy of it", async (test) => {
    test.skip(remote === undefined, noOpenssl);
    const href = `${remote!.url}/a/cog.tif`;
    const made = await run("catalog_reference", { href, collection_id: "elsewhere" });
    expect(made).toMatchObject({ href, stac_collection_id: "elsewhere" });
    expect(remote!.sent()).toBeLessThan(cog.length / 2);
    const item = (collection: string, id: string) =>
      `${orchestrator.url}/stac/collections/${collection}/items/${id}`;
    const there = item("elsewhere", made["stac_item_id"] as string);
    const here = item("set", "set-valid_cog_uint16");
    const described = (await (await fetch(there)).json()) as StacItem;
    const [west, south, east, north] = described.bbox;
    const middle = `${(west + east) / 2},${(south + north) / 2}`;
    const [x, y] = toMercator((west + east) / 2, (south + north) / 2);
    const tile = [x, -y].map((side) =>
      Math.floor(((side + halfWorld) / (2 * halfWorld)) * 2 ** 10),
    );
    const picture = `/tiles/WebMercatorQuad/10/${tile.join("/")}.png`;
    const preview = "/preview?format=png&max_size=64";
    for (const at of [`/point/${middle}`, picture, preview, "/statistics"]) {
      const [one, other] = await Promise.all([fetch(there + at), fetch(here + at)]);
      expect([at, one.status]).toEqual([at, 200]);
      expect(Buffer.from(await one.arrayBuffer())).toEqual(Buffer.from(await other.arrayBuffer()));
    }
    expect(JSON.stringify(described.assets)).not.toContain("rmhdag:path");
    expect(await storage.list("silver/", { limit: 10 })).toMatchObject({
      items: [{}, {}, {}],
    });
    await run("unpublish_raster", {
      collection_id: "elsewhere",
      item_id: made["stac_item_id"] as string,
    });
  });

  it("show a STAC item of another server without a copy of its files", async (test) => {
    test.skip(remote === undefined, noOpenssl);
    const href = `${remote!.url}/items/scene.json`;
    const sent = remote!.sent();
    const made = await run("catalog_reference", { href, collection_id: "elsewhere" });
    expect(made).toMatchObject({ stac_collection_id: "elsewhere", stac_item_id: "scene" });
    expect(remote!.sent() - sent).toBeLessThan(cog.length / 2);
    const address = `${orchestrator.url}/stac/collections/elsewhere/items/scene`;
    const item = (await (await fetch(address)).json()) as StacItem;
    expect(item).toMatchObject({
      properties: { "eo:cloud_cover": 3 },
      assets: { data: { href: `${remote!.url}/a/cog.tif` } },
    });
    expect(item.links).toContainEqual(expect.objectContaining({ rel: "via", href }));
    const here = `${orchestrator.url}/stac/collections/set/items/set-valid_cog_uint16`;
    const [one, other] = await Promise.all([
      fetch(`${address}/statistics`),
      fetch(`${here}/statistics`),
    ]);
    expect(one.status).toBe(200);
    expect(await one.json()).toEqual(await other.json());
    expect((await fetch(`${address}/preview?format=png&max_size=64`)).status).toBe(200);
    await run("unpublish_raster", { collection_id: "elsewhere", item_id: "scene" });
  });

  it("unpublish an item with its file, or the item alone, which is then reported", async () => {
    const one = { collection_id: "set", item_id: "set-valid_cog_uint16" };
    expect(await run("unpublish_raster", one)).toMatchObject({
      item_deleted: true,
      files_deleted: ["silver/set/valid_cog_uint16.tif"],
    });
    expect(await isThere("valid_cog_uint16.tif")).toBe(false);
    const other = { collection_id: "set", item_id: "set-dem_float32_epsg2056" };
    await run("unpublish_raster", { ...other, delete_files: false });
    expect(await isThere("dem_float32_epsg2056.tif")).toBe(true);
    expect(await search()).toEqual(["set-antimeridian_utm60"]);
    expect(await run("detect_orphans", {})).toMatchObject({
      detect: { files_without_item: ["silver/set/dem_float32_epsg2056.tif"] },
    });
  });

  it("rebuild and repair what is there, and unpublish a layer without a table", async () => {
    const set = { collection_id: "set" };
    expect(await run("rebuild_stac", set)).toMatchObject({ items: 1, broken: [] });
    expect(await run("repair_stac_items", set)).toMatchObject({ repair: { checked: 1 } });
    const last = { collection_id: "set", item_id: "set-antimeridian_utm60" };
    expect(await run("unpublish_vector", last)).toMatchObject({
      item_deleted: true,
      tables_dropped: [],
    });
    expect(await search()).toEqual([]);
  });

  it("unpublish a layer of features with its table and tiles, which are not served again", async () => {
    const square = (west: number) => ({
      type: "Feature",
      properties: { west },
      geometry: {
        type: "Polygon",
        coordinates: [
          [
            [west, 0],
            [west + 10, 0],
            [west + 10, 10],
            [west, 10],
            [west, 0],
          ],
        ],
      },
    });
    const load = async (west: number) => {
      const content = JSON.stringify(square(west));
      await storage.put("bronze/square.geojson", new TextEncoder().encode(content));
      return run("vector_etl", { blob_path: "square.geojson", collection_id: "layers" });
    };
    const base = `${orchestrator.url}/stac/collections/layers/items/square`;
    const tile = `${base}/tiles/WebMercatorQuad/0/0/0.mvt`;
    const table = async () =>
      (await database.db.query(`SELECT FROM pg_class WHERE oid = to_regclass('geo.square')`))
        .rowCount;
    await load(0);
    const before = await fetch(tile);
    expect([before.status, await table()]).toEqual([200, 1]);

    // Another item on the same table keeps it; without that it goes.
    const item = { collection_id: "layers", item_id: "square" };
    const [shared] = (
      await database.db.query<{ item: StacItem }>(
        `SELECT item FROM dagapp.stac_items WHERE item_id = 'square'`,
      )
    ).rows;
    await upsertItems(database.db, "layers", [{ ...shared!.item, id: "again" }]);
    expect(await run("unpublish_vector", item)).toMatchObject({
      item_deleted: true,
      tables_dropped: [],
      kept: ["square"],
    });
    expect(await table()).toBe(1);
    expect(await run("unpublish_vector", { ...item, item_id: "again" })).toMatchObject({
      tables_dropped: ["square"],
    });
    expect(await table()).toBe(0);
    const { rows } = await database.db.query(`SELECT FROM dagapp.geo_tables`);
    expect(rows).toEqual([]);
    const etag = before.headers.get("etag")!;
    for (const address of [base, tile, `${base}/features/items`]) {
      const gone = await fetch(address, { headers: { "if-none-match": etag } });
      expect([address, gone.status]).toEqual([address, 404]);
    }
    // What came in stays, and what is loaded under the same name later is not mixed up with it.
    expect(await storage.head("bronze/square.geojson")).toBeDefined();
    await load(100);
    const after = await fetch(tile);
    expect(after.headers.get("etag")).not.toBe(etag);
    const { default: layer } = readTile(new Uint8Array(await after.arrayBuffer()));
    expect(layer!.features[0]!.properties).toEqual({ west: 100 });
  });

  it("unpublish a raster with its copy for looking at, and its tiles with it", async () => {
    const ingest = async (name: string) => {
      await storage.putFile("bronze/picture.tif", fixture(`raster/${name}`));
      const inputs = { blob_path: "bronze/picture.tif", collection_id: "pictures", item_id: "one" };
      return run("raster_ingest", inputs);
    };
    const base = `${orchestrator.url}/stac/collections/pictures/items/one`;
    const made = await ingest("crs_without_code.tif");
    const files = [made["blob_path"] as string, made["visual_path"] as string];
    const picture = () => fetch(`${base}/preview?max_size=64`);
    const before = await picture();
    expect(before.status).toBe(200);
    const item = { collection_id: "pictures", item_id: "one" };
    const gone = await run("unpublish_raster", item);
    expect((gone["files_deleted"] as string[]).toSorted()).toEqual(files.toSorted());
    for (const file of files) expect(await storage.head(file)).toBeUndefined();
    expect((await picture()).status).toBe(404);
    expect((await fetch(`${base}/assets/data`)).status).toBe(404);
    await ingest("dem_float32_epsg2056.tif");
    const after = await picture();
    expect([after.status, after.headers.get("etag") === before.headers.get("etag")]).toEqual([
      200,
      false,
    ]);
  });
});
