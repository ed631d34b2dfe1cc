/** Programs of others as clients: GDAL finds and reads what the platform serves. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  upsertCollection,
  upsertItems,
} from "../../src/adapters/postgres/repositories/catalogue.ts";
import { withReferencedFiles } from "../../src/adapters/storage/referenced-files.ts";
import { createRasterServer } from "../support/raster-server.ts";
import { createDiskCache } from "../../src/adapters/tiles/disk-cache.ts";
import { buildVectorItem } from "../../src/core/catalogue/vector-item.ts";
import { operators } from "../../src/core/catalogue/owner.ts";
import { createAccessPolicy } from "../../src/adapters/http/tokens.ts";
import { extensions } from "../../src/core/catalogue/stac.ts";
import type { StacItem } from "../../src/core/catalogue/stac.ts";
import { halfWorld, resolutionAt } from "../../src/core/serving/web-mercator.ts";
import { createFeatureAnswers } from "../../src/orchestrator/layers/feature-answers.ts";
import { createLayerAnswers } from "../../src/orchestrator/layers/layer-answers.ts";
import type { ApiTest, TestApi } from "../support/api.ts";
import { openApiTest, tokens } from "../support/api.ts";
import { hasGdal } from "../support/gdal.ts";
import { loadSquares } from "../support/squares-table.ts";
import { collectionOf, itemOf } from "../support/stac.ts";
import { writeTiff } from "../support/tiff.ts";

const run = promisify(execFile);
let test: ApiTest;

/** The eastern half of the world north of the equator, in heights that grow to the east. */
function heights(heightOf = (index: number) => 1 + (index % 256)): Uint8Array {
  const band = Float32Array.from({ length: 256 * 256 }, (_, index) => heightOf(index));
  const pixel = resolutionAt(1);
  return writeTiff({
    images: [{ width: 256, height: 256, block: 256, bands: [band] }],
    epsg: 3857,
    origin: [0, halfWorld],
    pixel: [pixel, pixel],
    nodata: "0",
  });
}

function rasterItem(): StacItem {
  const pixel = resolutionAt(1);
  const href = "/stac/collections/demo/items/heights/assets/data";
  const data = {
    href,
    type: "image/tiff; application=geotiff",
    roles: ["data"],
    "proj:shape": [256, 256],
    "proj:transform": [pixel, 0, 0, 0, -pixel, halfWorld],
    "proj:code": "EPSG:3857",
    "rmhdag:path": "silver/heights.tif",
  };
  return {
    ...itemOf("demo", "heights", {
      bbox: [0, 0, 180, 85],
      properties: {
        title: 'Heights & "depths"',
        "proj:code": "EPSG:3857",
        renders: { default: { rescale: [[0, 256]], assets: ["data"] } },
      },
    }),
    stac_extensions: [extensions.projection],
    assets: { data },
  };
}

beforeAll(async () => {
  test = await openApiTest();
  const { db } = test.database;
  await loadSquares(db, {
    table_name: "squares",
    form: "wkb",
    load_id: "one",
    columns: [
      { name: "name", type: "text", source: "Name" },
      { name: "size", type: "integer", source: "size" },
    ],
    rows: Array.from({ length: 12 }, (_, at) => ({
      west: at * 2,
      attributes: `square ${at}\t${at}`,
    })),
  });
  await test.storage.put("silver/heights.tif", heights());
  await upsertCollection(db, collectionOf("demo"), operators);
  const squares = buildVectorItem({
    collection_id: "demo",
    item_id: "squares",
    title: "Squares <1>",
    bbox: [0, 0, 23, 1],
    time: { datetime: "2024-01-01T00:00:00Z", "rmhdag:datetime_source": "given" },
    table_name: "squares",
    feature_count: 12,
    geometry_type: "MultiPolygon",
    processing: { datetime: "2024-01-01T00:00:00Z", software: {} },
  });
  await upsertItems(db, "demo", [squares, rasterItem()], operators);
});
afterAll(() => test.close());

const get = (path: string, token: string = tokens.reader) =>
  fetch(path.startsWith("http") ? path : `${test.baseUrl}${path}`, {
    headers: token === "" ? {} : { authorization: `Bearer ${token}` },
  });
const json = async <T>(path: string, token?: string) =>
  (await (await get(path, token)).json()) as T;

interface Linked {
  readonly links: readonly { readonly rel: string; readonly href: string; readonly type: string }[];
}

describe("the vector layers below one address", () => {
  it("are found from the landing page by callers who may see them", async () => {
    const landing = await json<Linked>("/ogc?f=json");
    const to = (rel: string) => landing.links.find((link) => link.rel === rel)!.href;
    for (const rel of ["self", "service-desc", "conformance", "data"]) {
      expect((await get(to(rel))).status, rel).toBe(200);
    }
    const { collections } = await json<{ collections: { id: string }[] }>(to("data"));
    expect(collections).toMatchObject([
      { id: "demo:squares", title: "Squares <1>", itemType: "feature", numberMatched: 12 },
    ]);
    expect(JSON.stringify(collections)).not.toContain('"squares"');
    expect(await json(to("data"), "")).toMatchObject({ collections: [] });
    expect((await get("/ogc/collections/demo:squares", "")).status).toBe(401);
    expect(await json("/ogc/collections/squares")).toMatchObject({ code: "NOT_FOUND" });
  });

  it("are listed page by page", async () => {
    const { db } = test.database;
    const [given] = await json<StacItem[]>("/stac/search?ids=squares").then(
      (page) => (page as unknown as { features: StacItem[] }).features,
    );
    const more = { ...given!, id: "tiles", links: [], assets: tableOf("squares") };
    await upsertItems(db, "demo", [more], operators);
    const first = await json<Linked & { collections: { id: string }[] }>(
      "/ogc/collections?limit=1",
    );
    const second = await json<typeof first>(first.links.find(({ rel }) => rel === "next")!.href);
    expect([...first.collections, ...second.collections].map(({ id }) => id)).toEqual([
      "demo:squares",
      "demo:tiles",
    ]);
    expect(second.links.map(({ rel }) => rel)).toEqual(["self"]);
  });
});

function tableOf(name: string): StacItem["assets"] {
  return { features: { href: "/x", "rmhdag:table": name } };
}

describe("a layer", () => {
  const item = "/stac/collections/demo/items";

  it("is a style of MapLibre", async () => {
    expect(await json(`${item}/squares/style.json`)).toMatchObject({
      version: 8,
      name: "Squares <1>",
      sources: { layer: { type: "vector", maxzoom: 14 } },
      layers: [
        { type: "fill", source: "layer", "source-layer": "default" },
        { type: "line" },
        { type: "circle" },
      ],
    });
    const tiles = [
      `${test.baseUrl}${item}/heights/tiles/WebMercatorQuad/{z}/{x}/{y}?colormap_name=viridis`,
    ];
    expect(await json(`${item}/heights/style.json?colormap_name=viridis`)).toMatchObject({
      sources: { layer: { type: "raster", tileSize: 256, tiles } },
      layers: [{ type: "raster", source: "layer" }],
    });
  });

  it("has links for web maps in its item, and a thumbnail", async () => {
    const shown = await json<StacItem>(`${item}/heights`);
    const self = `${test.baseUrl}${item}/heights`;
    expect(shown.links).toEqual(
      expect.arrayContaining([
        {
          rel: "xyz",
          type: "image/png",
          href: `${self}/tiles/WebMercatorQuad/{z}/{x}/{y}.png`,
        },
        {
          rel: "wmts",
          type: "application/xml",
          href: `${self}/WMTSCapabilities.xml`,
          "wmts:layer": "default",
        },
        {
          rel: "tilejson",
          type: "application/json",
          href: `${self}/WebMercatorQuad/tilejson.json`,
        },
      ]),
    );
    expect(shown.stac_extensions).toEqual([extensions.projectionWithEpsg, extensions.webMapLinks]);
    expect(shown.properties).toMatchObject({ "proj:code": "EPSG:3857", "proj:epsg": 3857 });
    const picture = await get(shown.assets["thumbnail"]!.href);
    expect(picture.headers.get("content-type")).toBe(shown.assets["thumbnail"]!.type);
    const features = await json<StacItem>(`${item}/squares`);
    expect(features.links.find(({ rel }) => rel === "xyz")).toMatchObject({
      type: "application/vnd.mapbox-vector-tile",
    });
    expect(Object.keys(features.assets)).toEqual(["features"]);
  });
});

describe("signed addresses", () => {
  const sign = async (path: string, body: object = {}, token = tokens.reader) => {
    const answer = await fetch(`${test.baseUrl}${path}/signed-addresses`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: answer.status, signed: (await answer.json()) as Record<string, string> };
  };
  const tile = (template: string) =>
    template.replace("{z}", "1").replace("{x}", "1").replace("{y}", "0");
  const heights = "/stac/collections/demo/items/heights";

  it("show one layer without a token, and their documents lead to further ones", async () => {
    const { status, signed } = await sign(heights);
    expect(status).toBe(201);
    expect((await get(tile(signed["tiles"]!), "")).status).toBe(200);
    const tilejson = await json<{ tiles: string[] }>(signed["tilejson"]!, "");
    expect(tilejson.tiles).toEqual([`${signed["tiles"]!}?tilesize=256`]);
    expect(await (await get(signed["wmts"]!, "")).text()).toContain("/signed/");
    const style = await json<{ sources: { layer: { tiles: string[] } } }>(signed["style"]!, "");
    expect((await get(tile(style.sources.layer.tiles[0]!), "")).status).toBe(200);
    expect(signed["features"]).toBeNull();
    expect((await get(tile(signed["tiles"]!.replace(/\/signed\/[^/]+/, "")), "")).status).toBe(401);
  });

  it("open no other layer, no change, and nothing once changed or expired", async () => {
    const { signed } = await sign(heights, { expires_in_seconds: 60 });
    const tiles = signed["tiles"]!;
    const [, token = ""] = /\/signed\/([^/]+)/.exec(tiles) ?? [];
    const other = tile(tiles).replace("items/heights", "items/squares");
    expect((await get(other, "")).status).toBe(401);
    expect((await get(`${test.baseUrl}/signed/${token}/stac/collections/demo`, "")).status).toBe(
      401,
    );
    expect((await get(`${test.baseUrl}/signed/${token}/api/v1/jobs`, "")).status).toBe(401);
    const again = await sign(`/signed/${token}${heights}`);
    expect([again.status, again.signed["code"]]).toEqual([401, "UNAUTHENTICATED"]);
    const changed = tiles.replace(
      /\/signed\/(\d+)\./,
      (_all, end: string) => `/signed/${Number(end) + 60}.`,
    );
    expect(await json(tile(changed), "")).toMatchObject({ code: "LINK_NOT_VALID" });
    const { signer } = createAccessPolicy([], {
      signingKey: test.domain.callbacks.signingKey,
    });
    const past = signer!.sign([heights], new Date(1_700_000_000_000));
    expect(await json(`${past}${heights}/info`, "")).toMatchObject({ code: "LINK_NOT_VALID" });
    expect(test.api.logged.join("")).not.toContain(token.split(".")[2]);
  });

  it("show only what read access shows", async () => {
    const { db } = test.database;
    await upsertItems(db, "demo", [{ ...rasterItem(), id: "hidden" }]);
    const path = "/stac/collections/demo/items/hidden";
    expect((await get(`${path}/info`, tokens.curator)).status).toBe(200);
    const { status, signed } = await sign(path, {}, tokens.curator);
    expect([status, signed["code"]]).toEqual([404, "LAYER_NOT_FOUND"]);
    expect(signed["detail"]).toContain("approve and clear");
    expect((await sign(heights, { expires_in_seconds: 1e9 })).status).toBe(400);
  });

  it("lead to the features of a vector layer", async () => {
    const { signed } = await sign("/stac/collections/demo/items/squares");
    const collection = await json<Linked>(signed["features"]!, "");
    const items = collection.links.find(({ rel }) => rel === "items")!.href;
    expect(await json(`${items}?limit=2`, "")).toMatchObject({ numberMatched: 12 });
  });

  it("are a landing page with one vector layer, as QGIS walks it", async () => {
    const { db } = test.database;
    const [given] = (await json<{ features: StacItem[] }>("/stac/search?ids=squares")).features;
    const other = { ...given!, id: "other", links: [], assets: tableOf("squares") };
    await upsertItems(db, "demo", [other], operators);
    const { signed } = await sign("/stac/collections/demo/items/squares");
    const landing = await json<Linked>(signed["ogc"]!, "");
    const to = (rel: string) => landing.links.find((link) => link.rel === rel)!.href;
    expect((await get(to("service-desc"), "")).status).toBe(200);
    const { collections } = await json<{ collections: { id: string }[] }>(to("data"), "");
    expect(collections.map(({ id }) => id)).toEqual(["demo:squares"]);
    // QGIS puts the address together, and writes the colon as it is.
    const address = `${to("data")}/demo:squares`;
    expect(await json(`${address}/items?limit=2`, "")).toMatchObject({ numberMatched: 12 });
    expect((await get(`${to("data")}/demo:other/items`, "")).status).toBe(401);
    expect((await get(`${to("data")}/demo:squares2`, "")).status).toBe(401);
    const ofRaster = await sign(heights);
    expect(ofRaster.signed["ogc"]).toBeNull();
    const prefix = /^.*\/signed\/[^/]+/.exec(ofRaster.signed["tiles"]!)![0];
    expect(await json(`${prefix}/ogc/collections`, "")).toMatchObject({ collections: [] });
  });
});

describe("a raster on another server", () => {
  const small = heights();
  /** Larger than the part that the reader caches. */
  const large = heights((index) => 1 + Math.abs(Math.sin(index) * 255));
  let server: Server;
  let api: TestApi;
  let host = "";
  let etag = '"one"';
  let sent = 0;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      const tiff = request.url === "/large.tif" ? large : small;
      if (request.url === "/moved.tif") {
        response.writeHead(302, { location: "/heights.tif" }).end();
        return;
      }
      if (request.headers["if-match"] !== undefined && request.headers["if-match"] !== etag) {
        response.writeHead(412).end();
        return;
      }
      const isWhole = from === undefined || request.url === "/whole.tif";
      const body = isWhole ? tiff : tiff.subarray(Number(from), Number(to) + 1);
      const range = isWhole ? {} : { "content-range": `bytes ${from}-${to!}/${tiff.length}` };
      response.writeHead(isWhole ? 200 : 206, { etag, "content-length": body.length, ...range });
      if (request.method === "HEAD") response.end();
      else response.end(body, () => (sent += body.length));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const rules = { allowedHosts: [host], schemes: ["http:"] };
    const storage = withReferencedFiles(test.storage, rules);
    const rasters = createRasterServer({ storage, disk: createDiskCache("", 0) });
    api = await test.another({
      layers: createLayerAnswers(rasters, createFeatureAnswers(test.database.db)),
    });
  });
  afterAll(async () => {
    await api.close();
    server.close();
  });

  const ask = (url: string) =>
    api.server.inject({ url, headers: { authorization: `Bearer ${tokens.reader}` } });
  /** Catalogued by a curator, as any STAC item. */
  async function catalogue(id: string, href: string): Promise<string> {
    const given = rasterItem();
    const data = { ...given.assets["data"]!, "rmhdag:path": undefined, href };
    const answer = await api.server.inject({
      method: "POST",
      url: "/stac/collections/demo/items",
      headers: { authorization: `Bearer ${tokens.curator}` },
      payload: { ...given, id, assets: { data } },
    });
    expect(answer.statusCode, answer.body).toBe(201);
    return `/stac/collections/demo/items/${id}`;
  }

  it("is shown as if it were in storage, and read in parts", async () => {
    const remote = await catalogue("remote", `http://${host}/heights.tif`);
    const own = "/stac/collections/demo/items/heights";
    for (const path of ["/tiles/WebMercatorQuad/1/1/0.png", "/point/91,45", "/info"]) {
      const [there, here] = [await ask(remote + path), await ask(own + path)];
      expect(there.statusCode, there.body).toBe(200);
      expect(there.rawPayload, path).toEqual(here.rawPayload);
    }
    expect((await ask(`${own}/point/91,45`)).json()).toMatchObject({ values: [130] });
    expect(sent).toBeGreaterThan(0);
    const item = (await ask(remote)).json<StacItem>();
    expect(item.assets["data"]!.href).toBe(`http://${host}/heights.tif`);
    expect(item.links.map(({ rel }) => rel)).toContain("wmts");
  });

  it.each([
    ["elsewhere", "http://169.254.169.254/latest/meta-data.tif", "RMHDAG_SOURCE_HOSTS"],
    ["moved", "http://HOST/moved.tif", "answers with 302"],
    ["whole", "http://HOST/whole.tif", "not served in parts"],
    ["secured", "https://HOST/heights.tif", "must begin with https"],
  ])("is refused with the reason: %s", async (id, href, reason) => {
    const path = await catalogue(id, href.replace("HOST", host));
    const answer = await ask(`${path}/info`);
    expect(answer.json()).toMatchObject({ status: 422, code: "LAYER_UNREADABLE" });
    expect(answer.json<{ detail: string }>().detail).toContain(reason);
  });

  it("that was replaced does not mix with what was read before", async () => {
    const path = await catalogue("replaced", `http://${host}/large.tif`);
    expect((await ask(`${path}/info`)).statusCode).toBe(200);
    etag = '"two"';
    const answer = await ask(`${path}/tiles/WebMercatorQuad/1/1/0.png`);
    expect(answer.json()).toMatchObject({ code: "LAYER_UNREADABLE" });
    expect(answer.body).toContain("was replaced");
    await api.server.inject({
      method: "PATCH",
      url: path,
      headers: { authorization: `Bearer ${tokens.curator}` },
      payload: { properties: { updated: "2026-02-01T00:00:00Z" } },
    });
    expect((await ask(`${path}/tiles/WebMercatorQuad/1/1/0.png`)).statusCode).toBe(200);
  });
});

describe.skipIf(!hasGdal)("GDAL (needs GDAL)", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rmhdag-clients-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** A program of GDAL with the reader's token as the password of Basic authentication. */
  const gdal = async (program: string, ...args: string[]) => {
    // GDAL's driver of WMTS keeps the tiles it has read below its working folder.
    const { stdout } = await run(program, args, {
      cwd: folder,
      env: { ...process.env, GDAL_HTTP_AUTH: "BASIC", GDAL_HTTP_USERPWD: `qgis:${tokens.reader}` },
    });
    return stdout;
  };

  it("lists the layers of the one address and reads their features, page by page", async () => {
    const layers = await gdal("ogrinfo", "-ro", `OAPIF:${test.baseUrl}/ogc`);
    expect(layers).toContain("demo:squares");
    const features = await gdal(
      "ogrinfo",
      ...["-ro", "-q", "-oo", "PAGE_SIZE=5", "-where", "size >= 2"],
      ...[`OAPIF:${test.baseUrl}/ogc`, "demo:squares"],
    );
    expect([...features.matchAll(/name \(String\) = (.*)/g)].map(([, name]) => name)).toEqual(
      Array.from({ length: 10 }, (_, at) => `square ${at + 2}`),
    );
    expect(features).toContain("MULTIPOLYGON (((4 0,5 0,5 1,4 1,4 0)))");
  });

  it("reads the vector tiles whose template the set of tiles gives", async () => {
    const collection = await json<Linked>("/ogc/collections/demo:squares");
    const to = ({ links }: Linked, end: string) => links.find(({ rel }) => rel.endsWith(end))!.href;
    const { tilesets } = await json<{ tilesets: Linked[] }>(to(collection, "tilesets-vector"));
    const set = await json<Linked>(to(tilesets[0]!, "self"));
    expect(set).toMatchObject({ layers: [{ geometryDimension: 2 }] });
    const scheme = await json<{ tileMatrices: { scaleDenominator: number }[] }>(
      to(set, "tiling-scheme"),
    );
    // Annex D.1 of the standard.
    expect(scheme.tileMatrices[18]).toMatchObject({ scaleDenominator: 2132.729583849784 });
    const tile = to(set, "item")
      .replace("{tileMatrix}", "4")
      .replace("{tileCol}", "8")
      .replace("{tileRow}", "7");
    const read = await gdal("ogrinfo", "-ro", "-al", `MVT:/vsicurl/${tile}.mvt`);
    expect([...read.matchAll(/name \(String\) = (.*)/g)].map(([, name]) => name)).toContain(
      "square 11",
    );
  });

  it("reads a raster by WMTS, at the place and with the colours of its style", async () => {
    const address = `${test.baseUrl}/stac/collections/demo/items/heights/WMTSCapabilities.xml`;
    const info = JSON.parse(await gdal("gdalinfo", "-json", `WMTS:${address}`)) as {
      coordinateSystem: { wkt: string };
      wgs84Extent: { coordinates: number[][][] };
    };
    expect(info.coordinateSystem.wkt).toContain('ID["EPSG",3857]');
    const values = await gdal(
      "gdallocationinfo",
      ...["-wgs84", "-valonly", `WMTS:${address}`, "90", "45"],
    );
    // Column 128 of 256 has the value 129: half of the range.
    expect(values.trim().split(/\s+/)).toEqual(["128", "128", "128", "255"]);
  });

  it("reads the items of a search as one raster by STACIT", async () => {
    const search = `${test.baseUrl}/stac/search?ids=heights`;
    const info = await gdal("gdalinfo", `STACIT:"${search}":asset=data`);
    expect(info).toContain('ID["EPSG",3857]');
    expect(info).toContain("Size is 256, 256");
  });
});
