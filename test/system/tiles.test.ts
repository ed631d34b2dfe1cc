import { execFileSync } from "node:child_process";
import { constants } from "node:fs";
import { open, rm } from "node:fs/promises";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  deleteItem,
  upsertCollection,
  upsertItems,
} from "../../src/adapters/postgres/repositories/catalogue.ts";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import { buildCollection } from "../../src/core/catalogue/collection.ts";
import type { StacItem } from "../../src/core/catalogue/stac.ts";
import { halfWorld, resolutionAt } from "../../src/core/serving/web-mercator.ts";
import type { ApiTest } from "../support/api.ts";
import { operators } from "../../src/core/catalogue/owner.ts";
import { openApiTest, tokens } from "../support/api.ts";
import type { TiffImageSpec } from "../support/tiff.ts";
import { writeTiff } from "../support/tiff.ts";
import { waitFor } from "../support/wait.ts";

let test: ApiTest;
const base = "/stac/collections/demo/items";

function item(id: string, more: Partial<StacItem["properties"]> = {}): StacItem {
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: [],
    id,
    collection: "demo",
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [-180, -85],
          [180, -85],
          [180, 85],
          [-180, 85],
          [-180, -85],
        ],
      ],
    },
    bbox: [-180, -85, 180, 85],
    properties: { datetime: "2026-01-01T00:00:00Z", title: `The <${id}>`, ...more },
    links: [],
    assets: { data: { href: "/x", "rmhdag:path": `silver/${id}.tif`, "file:checksum": id } },
  };
}

/** The whole world at zoom 1; a pixel is as high as the middle of its column and row. */
function heights(shape: Partial<TiffImageSpec> = {}): Uint8Array {
  const band = Float32Array.from({ length: 512 * 512 }, (_, index) => (index % 512) + index / 512);
  const pixel = resolutionAt(1);
  return writeTiff({
    images: [{ width: 512, height: 512, block: 256, bands: [band], predictor: 3, ...shape }],
    epsg: 3857,
    origin: [-halfWorld, halfWorld],
    pixel: [pixel, pixel],
    nodata: "0",
  });
}

beforeAll(async () => {
  test = await openApiTest();
  const { db } = test.database;
  const storage = createLocalStorage(test.engine.folder);
  await storage.put("silver/heights.tif", heights());
  await upsertCollection(
    db,
    buildCollection({ collection_id: "demo", license: "other" }),
    operators,
  );
  const renders = { default: { rescale: [[0, 1024]], colormap_name: "viridis", assets: ["data"] } };
  await upsertItems(
    db,
    "demo",
    [
      item("heights"),
      item("gone"),
      { ...item("styled", { renders }), assets: item("heights").assets },
    ],
    operators,
  );
});
afterAll(() => test.close());

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${test.baseUrl}${base}/${path}`, {
    headers: { authorization: `Bearer ${tokens.reader}`, ...headers },
  });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const json = () => JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  return {
    status: answer.status,
    headers: answer.headers,
    bytes,
    json,
    text: () => new TextDecoder().decode(bytes),
  };
}

async function pixel(bytes: Uint8Array, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(bytes)
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [...data.subarray(4 * (y * info.width + x), 4 * (y * info.width + x) + 4)];
}

describe("tiles of a catalogue item", () => {
  it("come in the format that the address or the client names", async () => {
    const types = await Promise.all([
      get("heights/tiles/WebMercatorQuad/1/0/0.png"),
      get("heights/tiles/WebMercatorQuad/1/0/0.webp"),
      get("heights/tiles/WebMercatorQuad/1/0/0.jpg"),
      get("heights/tiles/WebMercatorQuad/1/0/0", { accept: "image/webp" }),
      get("heights/tiles/WebMercatorQuad/1/0/0"),
      get("heights/tiles/WebMercatorQuad/1/1/1"),
    ]);
    expect(types.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(types.map(({ headers }) => headers.get("content-type"))).toEqual(
      ["png", "webp", "jpeg", "webp", "png", "jpeg"].map((each) => `image/${each}`),
    );
  });

  it("follow what is asked for, and the item's own style otherwise", async () => {
    const gray = await get("heights/tiles/WebMercatorQuad/1/1/0.png?rescale=0,1024");
    expect(await pixel(gray.bytes, 0, 0)).toEqual([64, 64, 64, 255]);
    const styled = await get("styled/tiles/WebMercatorQuad/1/1/0.png");
    const [red = 0, green = 0, blue = 0] = await pixel(styled.bytes, 0, 0);
    expect(blue).toBeGreaterThan(green);
    expect(green).toBeGreaterThan(red);
    const large = await get("heights/tiles/WebMercatorQuad/0/0/0.png?tilesize=512");
    expect((await sharp(large.bytes).metadata()).width).toBe(512);
  });

  it("are asked for again cheaply, until the layer or the wish changes", async () => {
    const first = await get("heights/tiles/WebMercatorQuad/1/1/0.png");
    const etag = first.headers.get("etag")!;
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    const again = await get("heights/tiles/WebMercatorQuad/1/1/0.png", { "if-none-match": etag });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    const other = await get("heights/tiles/WebMercatorQuad/1/1/0.png?rescale=0,9", {
      "if-none-match": etag,
    });
    expect(other.status).toBe(200);
    await upsertItems(
      test.database.db,
      "demo",
      [item("heights", { updated: "2026-02-02T00:00:00Z" })],
      operators,
    );
    expect(
      (await get("heights/tiles/WebMercatorQuad/1/1/0.png", { "if-none-match": etag })).status,
    ).toBe(200);
  });

  it.each([
    ["heights/tiles/WebMercatorQuad/1/2/0.png", 404, "NOT_FOUND"],
    ["heights/tiles/WebMercatorQuad/1/0/0.mvt", 404, "NOT_FOUND"],
    ["heights/tiles/WebMercatorQuad/99/0/0.png", 400, "BAD_REQUEST"],
    ["heights/tiles/WebMercatorQuad/1/0/0.png?bidx=7", 400, "BAD_REQUEST"],
    ["heights/tiles/WebMercatorQuad/1/0/0.png?url=http://example.org/x.tif", 400, "BAD_REQUEST"],
    ["heights/tiles/WebMercatorQuad/1/0/x.png", 400, "BAD_REQUEST"],
    ["nothing/tiles/WebMercatorQuad/1/0/0.png", 404, "ITEM_NOT_FOUND"],
    ["gone/tiles/WebMercatorQuad/1/0/0.png", 422, "LAYER_UNREADABLE"],
    ["heights/point/0", 400, "BAD_REQUEST"],
    ["heights/point/0,89.9", 404, "OUTSIDE_LAYER"],
  ])("refuse %s with %i %s", async (path, status, code) => {
    const answer = await get(path);
    expect([answer.status, answer.json()["code"]]).toEqual([status, code]);
  });

  it("are for those who may read", async () => {
    const answer = await fetch(`${test.baseUrl}${base}/heights/tiles/WebMercatorQuad/0/0/0.png`);
    expect(answer.status).toBe(401);
  });

  it("are gone with the item, at once", async () => {
    await upsertItems(
      test.database.db,
      "demo",
      [{ ...item("short"), assets: item("heights").assets }],
      operators,
    );
    const tile = "short/tiles/WebMercatorQuad/0/0/0.png";
    const { headers, status } = await get(tile);
    expect(status).toBe(200);
    await deleteItem(test.database.db, "demo", "short");
    expect((await get(tile, { "if-none-match": headers.get("etag")! })).status).toBe(404);
  });
});

describe("what else a layer answers", () => {
  it("is TileJSON that passes the wishes on", async () => {
    const made = (
      await get("heights/WebMercatorQuad/tilejson.json?rescale=0,10&colormap_name=viridis")
    ).json();
    expect(made).toMatchObject({
      tilejson: "3.0.0",
      name: "The <heights>",
      minzoom: 0,
      maxzoom: 1,
    });
    const [address] = made["tiles"] as string[];
    expect(address).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/stac\/.*\{z\}\/\{x\}\/\{y\}\?rescale=0%2C10&colormap_name=viridis/,
    );
    const tile = address!.replace("{z}", "1").replace("{x}", "1").replace("{y}", "1");
    const answer = await fetch(tile, { headers: { authorization: `Bearer ${tokens.reader}` } });
    expect(answer.headers.get("content-type")).toBe("image/jpeg");
  });

  it("is a preview, a value, statistics and what the raster is", async () => {
    const preview = await get("heights/preview?max_size=64&format=png&rescale=0,1024");
    expect(await sharp(preview.bytes).metadata()).toMatchObject({
      width: 64,
      height: 64,
      format: "png",
    });
    const { values, band_names } = (await get("heights/point/0.1,-0.1")).json();
    expect(band_names).toEqual(["b1"]);
    expect((values as number[])[0]).toBeCloseTo(512.5, 1);
    const { b1 } = (await get("heights/statistics?max_size=512")).json() as {
      b1: Record<string, number>;
    };
    expect(b1).toMatchObject({ masked_pixels: 1, valid_pixels: 512 * 512 - 1 });
    expect(b1["mean"]).toBeCloseTo(511.5, 0);
    expect((await get("heights/info")).json()).toMatchObject({
      width: 512,
      dtype: "float32",
      nodata_value: 0,
      nodata_type: "Nodata",
    });
  });

  it("has statistics of polygons in TiTiler's form, by exact shares", async () => {
    const ring = (west: number, east: number, south: number, north: number) => [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ];
    const feature = (west: number, east: number, south = -0.2, north = -0.1) => ({
      type: "Feature",
      id: west,
      properties: { name: "one" },
      geometry: { type: "Polygon", coordinates: [ring(west, east, south, north)] },
    });
    const ask = async (body: unknown) => {
      const answer = await fetch(`${test.baseUrl}${base}/heights/statistics`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${tokens.reader}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(body),
      });
      return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
    };
    const one = (await ask(feature(0.1, 0.2))).json as {
      properties: { name: string; statistics: { b1: Record<string, number> } };
    };
    expect(one).toMatchObject({ properties: { name: "one" } });
    const { b1 } = one.properties.statistics;
    const half = (
      await ask({
        type: "FeatureCollection",
        features: [feature(0.1, 0.15), feature(0.15, 0.2), feature(0, 1, 87, 88)],
      })
    ).json as { features: { properties: { statistics: { b1: Record<string, number> } } }[] };
    const parts = half.features.map(({ properties }) => properties.statistics.b1);
    expect(parts[0]!["count"]! + parts[1]!["count"]!).toBeCloseTo(b1["count"]!, 9);
    expect(parts[0]!["sum"]! + parts[1]!["sum"]!).toBeCloseTo(b1["sum"]!, 6);
    expect(b1["mean"]).toBeCloseTo(b1["sum"]! / b1["count"]!, 9);
    expect(parts[2]).toMatchObject({ count: 0, mean: null, valid_pixels: 0 });
    const point = { type: "Feature", geometry: { type: "Point", coordinates: [0, 0] } };
    expect(await ask(point)).toMatchObject({
      status: 400,
      json: { detail: "Area 0 is a Point: only polygons have pixels inside." },
    });
  });

  it("holds up nothing else while a tile is read and drawn", async () => {
    const storage = createLocalStorage(test.engine.folder);
    await storage.put("silver/stuck.tif", heights({ compression: "none", block: 512 }));
    await upsertItems(test.database.db, "demo", [item("stuck")], operators);
    expect((await get("stuck/info")).status).toBe(200);
    // Opening a pipe waits until it is opened for writing: this thread would wait for itself.
    const pipe = (await storage.localPath("silver/stuck.tif"))!;
    await rm(pipe);
    execFileSync("mkfifo", [pipe]);
    const tile = get("stuck/tiles/WebMercatorQuad/1/0/0.png");
    expect((await fetch(`${test.baseUrl}/livez`)).status).toBe(200);
    const writer = await waitFor(
      () => open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined),
      { what: "the tile to be read" },
    );
    await writer.close();
    expect((await tile).status).toBe(500);
  });

  it("is a map page that allows no script but its own files, all of which are there", async () => {
    const page = await get("heights/map?colormap_name=terrain");
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self';");
    const html = page.text();
    expect(html).toContain("<title>The &lt;heights&gt;</title>");
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| on\w+=/);
    const files = [...html.matchAll(/(?:src|href)="(\/map\/[^"]+)"/g)].map(([, file]) => file!);
    for (const file of [
      ...files,
      "/map/land.json",
      "/map/maplibre-gl.mjs",
      "/map/maplibre-gl-worker.mjs",
    ]) {
      const answer = await fetch(`${test.baseUrl}${file}`);
      expect([file, answer.status]).toEqual([file, 200]);
      await answer.arrayBuffer();
    }
    expect((await fetch(`${test.baseUrl}/map/..%2fpackage.json`)).status).toBe(404);
  });
});
