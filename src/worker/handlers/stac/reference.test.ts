/** COGs and STAC items of another server, catalogued without a copy. */
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { copyFile, mkdtemp, rm, utimes } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { plainTiff, rawVrt } from "../../../../test/support/attack-files.ts";
import type { Canary } from "../../../../test/support/attack-files.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import { itemOf } from "../../../../test/support/stac.ts";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import { errorCode } from "../../../adapters/runtime/error-code.ts";
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
const asked: string[] = [];
const redirects: Record<string, () => string> = {
  "/moved.tif": () => "/cog.tif",
  "/to-canary.tif": () => `${canary.url}/moved.tif`,
  "/to-canary.json": () => `${canary.url}/moved.json`,
};

let outside: string;
let canaryServer: Server;
let canary: Canary;
let canaryCalls = 0;
/** Older than the file's content: a file system that records reads then replaces it. */
const neverRead = new Date("2001-01-01T00:00:00Z");

beforeAll(async () => {
  database = await createTestDatabase();
  canaryServer = createServer((_request, response) => {
    canaryCalls += 1;
    response.end(readFileSync(cog));
  }).listen(0, "127.0.0.1");
  await once(canaryServer, "listening");
  const { port } = canaryServer.address() as AddressInfo;
  outside = await mkdtemp(path.join(tmpdir(), "rmhdag-canary-"));
  canary = { file: path.join(outside, "secret.tif"), url: `http://127.0.0.1:${port}` };
  await copyFile(cog, canary.file);
  await utimes(canary.file, neverRead, new Date());
  Object.assign(files, hostileFiles());
  server = createServer((request, response) => {
    const body = files[request.url ?? ""];
    asked.push(request.url ?? "");
    const moved = redirects[request.url ?? ""];
    if (moved !== undefined) {
      response.writeHead(302, { location: moved() }).end();
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
  canaryServer.close();
  await rm(outside, { recursive: true, force: true });
  await database.drop();
});

/** COGs and items that lead to the canaries, and the files beside a COG that GDAL would look for. */
function hostileFiles(): Record<string, Uint8Array> {
  const image = { width: 256, height: 256, block: 256, bands: [new Uint8Array(65_536).fill(7)] };
  const cogWith = (name: string, domain: string, value: string) =>
    plainTiff(
      `<GDALMetadata><Item name="${name}" domain="${domain}">${value.replaceAll("<", "&lt;")}</Item></GDALMetadata>`,
      { images: [image], isCog: true },
    );
  const item = (href: string) => foreign({ data: { href, type: tiff } });
  return {
    "/plain.tif": plainTiff(undefined, { images: [image], isCog: true }),
    "/plain.tif.ovr": Buffer.from(rawVrt(canary.file)),
    "/plain.tif.msk": Buffer.from(rawVrt(canary.file)),
    "/plain.tif.aux.xml": Buffer.from(rawVrt(canary.file)),
    "/overview.tif": cogWith("OVERVIEW_FILE", "OVERVIEWS", rawVrt(canary.file)),
    "/streamed.tif": cogWith("OVERVIEW_FILE", "OVERVIEWS", `/vsicurl_streaming/${canary.url}/a`),
    "/mask.tif": cogWith("OVERVIEW_FILE", "OVERVIEWS", `${canary.file}.msk`),
    "/location.tif": cogWith("X_DATASET", "GEOLOCATION", canary.file),
    "/vrt.tif": Buffer.from(rawVrt(canary.file)),
    "/items/file.json": item(`file://${canary.file}`),
    "/items/path.json": item(canary.file),
    "/items/vsi.json": item(`/vsicurl/${canary.url}/a.tif`),
    "/items/vsi-file.json": item(`/vsisubfile/0_100,${canary.file}`),
    "/items/canary.json": item(`${canary.url}/a.tif`),
    "/items/moved.json": item("../to-canary.tif"),
    "/items/overview.json": item("../overview.tif"),
  };
}

const engines = hasGdal ? (["native", "wasm"] as const) : (["wasm"] as const);

describe.each(engines)("on the engine %s", (engine) => {
  async function open() {
    const gdal = await createGdal({ prefer: engine });
    const allowedHosts = [new URL(base).host];
    const given = { database: database.db, gdal, allowedHosts, schemes: ["http:"] };
    const test = await createTestContext(given);
    onTestFinished(() => test.dispose());
    const register = (address: string, params: object = {}) =>
      test.run(registerReference, {
        href: address.startsWith("http") ? address : base + address,
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
  ])("%s %o is refused: %s", async (address, params, code, words) => {
    const { register } = await open();
    await expect(register(address, params)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words) as string,
    });
  });

  it("none leads to another file or server", async () => {
    const { register } = await open();
    const expected = {
      "/to-canary.tif": "SOURCE_NOT_SERVED",
      "/to-canary.json": "SOURCE_NOT_SERVED",
      "/overview.tif": "EXTERNAL_REFERENCE",
      "/streamed.tif": "EXTERNAL_REFERENCE",
      "/mask.tif": "EXTERNAL_REFERENCE",
      "/location.tif": "EXTERNAL_REFERENCE",
      "/vrt.tif": "NOT_A_TIFF",
      "/items/file.json": "ITEM_INVALID",
      // A path is one on the server of the item.
      "/items/path.json": "SOURCE_NOT_FOUND",
      "/items/vsi.json": "SOURCE_NOT_FOUND",
      "/items/vsi-file.json": "SOURCE_NOT_FOUND",
      "/items/canary.json": "SOURCE_HOST_NOT_ALLOWED",
      "/items/moved.json": "SOURCE_NOT_SERVED",
      "/items/overview.json": "EXTERNAL_REFERENCE",
    };
    const found: Record<string, unknown> = {};
    for (const address of Object.keys(expected)) {
      found[address] = await register(address).catch(errorCode);
    }
    expect(found).toEqual(expected);
    expectUnread();
  });

  it("no file beside a COG is asked for", async () => {
    const { register } = await open();
    asked.length = 0;
    await register("/plain.tif", { datetime: "2024-01-01T00:00:00Z" });
    expect([...new Set(asked)]).toEqual(["/plain.tif"]);
    expectUnread();
  });
});

function expectUnread(): void {
  expect([canaryCalls, statSync(canary.file).atime]).toEqual([0, neverRead]);
}
