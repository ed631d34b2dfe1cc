/** COGs and STAC items of another server, catalogued without a copy. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import { itemOf } from "../../../../test/support/stac.ts";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import { findItem } from "../../../adapters/postgres/queries/catalogue-items.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { layerOfItem } from "../../../core/serving/layer-of-item.ts";
import { extractMetadata } from "./extract-catalog.ts";
import { registerReference } from "./register-reference.ts";

const cog = fixture("raster/valid_cog_uint16.tif");
const files: Record<string, Uint8Array> = {
  "/cog.tif": readFileSync(cog),
  "/strips.tif": readFileSync(fixture("raster/rgb_utm18_nodata0.tif")),
  "/text.tif": Buffer.from("no raster at all, and long enough for a header"),
};
const foreign = (assets: object): Uint8Array =>
  Buffer.from(
    JSON.stringify({
      ...itemOf("theirs", "S2A_1", { bbox: [1, 2, 3, 4], properties: { "eo:cloud_cover": 3 } }),
      stac_version: "1.0.0",
      links: [{ rel: "self", href: "https://elsewhere.example/S2A_1.json" }],
      assets,
    }),
  );
const tiff = "image/tiff; application=geotiff; profile=cloud-optimized";
const secret = { "rmhdag:path": "bronze/secret.tif", "rmhdag:table": "secrets" };
files["/items/S2A_1"] = foreign({
  data: { href: "./all.zip", type: "application/zip" },
  visual: { href: "../cog.tif", type: tiff, roles: ["visual"], title: "Seen", ...secret },
});
files["/items/bucket.json"] = foreign({ B04: { href: "s3://bucket/B04.tif", type: tiff } });
files["/items/away.json"] = foreign({ B04: { href: "http://169.254.169.254/a.tif", type: tiff } });
files["/items/none.json"] = Buffer.from('{"type":"FeatureCollection","features":[]}');
files["/items/long.json"] = Buffer.alloc(5 * 1024 * 1024, " ");

let database: TestDatabase;
let server: Server;
let base: string;
let sent = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  server = createServer((request, response) => {
    const body = files[request.url ?? ""];
    if (request.url === "/moved.tif") {
      response.writeHead(302, { location: "/cog.tif" }).end();
      return;
    }
    if (body === undefined) {
      response.writeHead(404).end();
      return;
    }
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const part = from === undefined ? body : body.subarray(Number(from), Number(to) + 1);
    const range =
      from === undefined ? {} : { "content-range": `bytes ${from}-${to!}/${body.length}` };
    const headers = { etag: '"one"', "content-length": part.length, ...range };
    response.writeHead(from === undefined ? 200 : 206, headers);
    if (request.method === "HEAD") response.end();
    else response.end(part, () => (sent += part.length));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await database.drop();
});

const engines = hasGdal ? (["native", "wasm"] as const) : (["wasm"] as const);

describe.each(engines)("on the engine %s", (engine) => {
  async function open() {
    const gdal = await createGdal({ prefer: engine });
    const allowedHosts = [new URL(base).host];
    const given = { database: database.db, gdal, allowedHosts, schemes: ["http:"] };
    const test = await createTestContext(given);
    onTestFinished(() => test.dispose());
    const register = (path: string, params: object = {}) =>
      test.run(registerReference, {
        href: path.startsWith("http") ? path : base + path,
        collection_id: "refs",
        ...params,
      }) as Promise<{ item_id: string }>;
    const catalogued = async (id: string) =>
      (await findItem(database.db, seesAll, "refs", id)) as unknown as StacItem;
    return { test, register, catalogued };
  }

  it("a COG has the item of the same file in storage, but for its address", async () => {
    const { test, register, catalogued } = await open();
    sent = 0;
    const { item_id } = await register("/cog.tif", { datetime: "2024-01-01T00:00:00Z" });
    expect(sent).toBeLessThan(files["/cog.tif"]!.length / 2);
    await test.storage.putFile("bronze/cog.tif", cog);
    const { item: stored } = (await test.run(extractMetadata, {
      blob_path: "bronze/cog.tif",
      collection_id: "refs",
    })) as { item: StacItem };
    const item = await catalogued(item_id);
    expect(item.geometry).toEqual(stored.geometry);
    const isOwn = (name: string) => name === "rmhdag:path" || name === "file:checksum";
    const wanted = Object.entries(stored.assets["data"]!).filter(([name]) => !isOwn(name));
    const there = { ...Object.fromEntries(wanted), href: `${base}/cog.tif` };
    expect(item.assets["data"]).toEqual(there);
    expect(layerOfItem(item)).toMatchObject({ kind: "raster", data_path: `${base}/cog.tif` });
  });

  it("a STAC item keeps its facts, shows one asset, and names no part of the platform", async () => {
    const { register, catalogued } = await open();
    const { item_id } = await register("/items/S2A_1");
    expect(item_id).toBe("S2A_1");
    const item = await catalogued("S2A_1");
    expect(item).toMatchObject({
      collection: "refs",
      bbox: [1, 2, 3, 4],
      properties: { "eo:cloud_cover": 3 },
      assets: {
        data: { href: `${base}/cog.tif`, title: "Seen", roles: ["visual", "data"] },
        data_original: { href: `${base}/items/all.zip` },
      },
    });
    expect(item.assets["data"]!["proj:shape"]).toEqual([2667, 2658]);
    expect(item.links).toContainEqual(
      expect.objectContaining({ rel: "via", href: `${base}/items/S2A_1` }),
    );
    expect(JSON.stringify(item)).not.toMatch(/secret|elsewhere/);
  });

  it.each([
    ["/strips.tif", {}, "NOT_A_COG", "raster_ingest"],
    ["/text.tif", {}, "NOT_A_TIFF", ""],
    ["/missing.tif", {}, "SOURCE_NOT_FOUND", ""],
    ["/moved.tif", {}, "SOURCE_NOT_SERVED", "302"],
    ["/cog.tif?sig=1", {}, "ADDRESS_HAS_QUERY", "no query"],
    ["http://169.254.169.254/a.tif", {}, "SOURCE_HOST_NOT_ALLOWED", "RMHDAG_SOURCE_HOSTS"],
    ["/items/S2A_1", { asset: "B8A" }, "ITEM_INVALID", "data, visual"],
    ["/items/bucket.json", {}, "ITEM_INVALID", "B04"],
    ["/items/none.json", {}, "ITEM_INVALID", "no STAC item"],
    ["/items/away.json", {}, "SOURCE_HOST_NOT_ALLOWED", ""],
    ["/items/long.json", {}, "SOURCE_TOO_LARGE", ""],
  ])("%s %o is refused: %s", async (path, params, code, words) => {
    const { register } = await open();
    await expect(register(path, params)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words) as string,
    });
  });
});
