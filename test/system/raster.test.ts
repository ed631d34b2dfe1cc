/**
 * Real files through the real workflows, one for each way through them. The verdict on each fixture
 * and the profile of its COG are tested beside the handlers, in validate.test.ts and
 * create-cog.test.ts.
 */
import { readdir } from "node:fs/promises";
import path from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import type { Storage } from "../../src/adapters/storage/storage.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import { hasGdal } from "../support/gdal.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import type { Orchestrator, Program } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";

const slow = 240_000;
let database: TestDatabase;
let fleet: Fleet;
let orchestrator: Orchestrator;
let storage: Storage;

beforeAll(async () => {
  database = await createTestDatabase();
  fleet = new Fleet(database.url);
  orchestrator = await fleet.orchestrator();
  storage = createLocalStorage(path.join(fleet.dataDirectory, "storage"));
}, slow);
afterAll(async () => {
  await fleet.stop();
  await database.drop();
});

async function put(name: string): Promise<string> {
  await storage.putFile(`bronze/${name}`, fixture(`raster/${name}`));
  const sidecar = fixture(`raster/${name}.ovr`);
  await storage.putFile(`bronze/${name}.ovr`, sidecar).catch(() => undefined);
  return `bronze/${name}`;
}

async function ingest(name: string, inputs: JsonObject = {}) {
  const blob_path = await put(name);
  const id = await submit(orchestrator, "raster_ingest", {
    blob_path,
    collection_id: "fixtures",
    with_visual: false,
    ...inputs,
  });
  return finished(orchestrator, id, slow);
}

const codesOf = (result: JsonObject) =>
  (result["findings"] as { code: string }[]).map(({ code }) => code);

describe.skipIf(!hasGdal)("raster_ingest (needs GDAL)", () => {
  let worker: Program;
  beforeAll(async () => {
    worker = await fleet.worker({ WORKER_CONCURRENCY: "2" });
  }, slow);
  afterAll(async () => {
    worker.signal("SIGTERM");
    await worker.gone;
  }, slow);

  it(
    "catalogues what is good or can be put right, and says what it found",
    async () => {
      const expected: [string, JsonObject, JsonObject, string[]][] = [
        ["rgb_utm18_nodata0.tif", { with_visual: true }, { action: "encode" }, []],
        [
          "rotated_no_crs.tif",
          { source_crs: "EPSG:32618" },
          { verdict: "warning" },
          ["CRS_OVERRIDE", "NOT_NORTH_UP"],
        ],
        ["jpeg_cog.tif", {}, { action: "copy" }, ["ALREADY_COG"]],
        [
          "palette_custom_laea.tif",
          { with_visual: true },
          { raster_type: "categorical" },
          ["CRS_WITHOUT_CODE", "PALETTE"],
        ],
        [
          "antimeridian_utm60.tif",
          { with_visual: true },
          { verdict: "warning", visual_path: null },
          ["CROSSES_ANTIMERIDIAN", "ALREADY_COG"],
        ],
        [
          "flood_tile_3600.tif",
          { max_nodata_percent: 100 },
          {},
          ["RASTER_SPARSE", "VERTICAL_DATUM", "ALREADY_COG"],
        ],
      ];
      const jobs = await Promise.all(expected.map(async ([name, inputs]) => ingest(name, inputs)));
      for (const [index, job] of jobs.entries()) {
        const [name, , result, codes] = expected[index]!;
        expect([name, job.status, job.error]).toEqual([name, "completed", null]);
        expect({ name, ...job.result_data }).toMatchObject({ name, ...result });
        expect([name, codesOf(job.result_data!)]).toEqual([name, codes]);
      }
      const zones = {
        type: "Polygon",
        coordinates: [
          [
            [-77.5, 25],
            [-77, 25],
            [-77, 25.5],
            [-77.5, 25],
          ],
        ],
      };
      const blob_path = jobs[0]!.result_data!["blob_path"] as string;
      const zonal = await submit(orchestrator, "zonal_statistics", { blob_path, zones });
      const { result_data } = await finished(orchestrator, zonal, slow);
      expect(result_data).toMatchObject({ count: 1, zones: [{ index: 0 }] });
      expect((result_data!["zones"] as { count: number }[])[0]!.count).toBeGreaterThan(0);
      const visual = jobs[0]!.result_data!["visual_path"] as string;
      expect(await storage.head(visual)).toBeDefined();
      const crossing = jobs[4]!.result_data!["bbox"] as number[];
      expect(crossing[0]).toBeGreaterThan(crossing[2]!);
    },
    slow,
  );

  it(
    "shows a layer in a system that only its definition explains, where it belongs",
    async () => {
      // Austria Lambert is not among the systems that are known by number; the Swiss one is.
      const [own, other] = await Promise.all([
        ingest("dem_float32_epsg2056.tif", { item_id: "swiss" }),
        ingest("dem_float32_epsg2056.tif", { item_id: "austrian", target_crs: "EPSG:3416" }),
      ]);
      expect([own.error, other.error, other.result_data!["crs"]]).toEqual([
        null,
        null,
        "EPSG:3416",
      ]);
      const address = (item: string) =>
        `${orchestrator.url}/stac/collections/fixtures/items/${item}`;
      const item = (await (await fetch(address("austrian"))).json()) as {
        assets: { data: Record<string, unknown> };
      };
      expect(item.assets.data).toMatchObject({
        "proj:code": "EPSG:3416",
        "proj:wkt2": expect.stringMatching(/^PROJCRS\[/) as string,
      });
      const [west, south, east, north] = other.result_data!["bbox"] as number[];
      const place = `${(west! + east!) / 2},${(south! + north!) / 2}`;
      const heights = await Promise.all(
        ["swiss", "austrian"].map(async (name) => {
          const answer = await fetch(`${address(name)}/point/${place}`);
          return ((await answer.json()) as { values: number[] }).values[0]!;
        }),
      );
      expect(Math.abs(heights[0]! - heights[1]!)).toBeLessThan(25);
      const preview = await fetch(`${address("austrian")}/WebMercatorQuad/tilejson.json`);
      expect(preview.status).toBe(200);
    },
    slow,
  );

  it(
    "refuses what cannot become a layer, with the reason and the remedy",
    async () => {
      const expected: [string, string][] = [
        ["rotated_no_crs.tif", "CRS_MISSING"],
        ["all_nodata.tif", "RASTER_EMPTY"],
        ["jpeg_cog_corrupt_block.tif", "FILE_CORRUPTED"],
        ["float64_nan.tif", "BIT_DEPTH_POLICY_VIOLATION"],
        ["truncated.tif", "FILE_CORRUPTED"],
        ["header_bomb_65535.tif", "HEADER_IMPLAUSIBLE"],
        ["complex_float32.tif", "BIT_DEPTH_POLICY_VIOLATION"],
      ];
      const jobs = await Promise.all(expected.map(([name]) => ingest(name)));
      for (const [index, job] of jobs.entries()) {
        const [name, code] = expected[index]!;
        expect([name, job.status, job.error?.code]).toEqual([name, "failed", code]);
        expect(job.error?.message).toMatch(/was rejected\. [A-Z_]+: .+\. .+/s);
      }
      const unknown = await ingest("rotated_no_crs.tif", { source_crs: "EPSG:999999" });
      expect([unknown.status, unknown.error?.code]).toEqual(["failed", "CRS_NOT_UNDERSTOOD"]);
      expect(unknown.error?.message).toMatch(/Give a code such as EPSG:32618/);
    },
    slow,
  );

  it(
    "goes in one piece or tile by tile, by its size: raster_tiled_processing",
    async () => {
      const run = async (name: string) => {
        const inputs = { blob_path: await put(name), collection_id: "sized", tile_threshold_mb: 1 };
        const id = await submit(orchestrator, "raster_tiled_processing", inputs);
        const { status, error } = await finished(orchestrator, id, slow);
        expect([status, error]).toEqual(["completed", null]);
        const { items } = await orchestrator.client.listJobNodes({ params: { job_id: id } });
        return new Map(items.map((node) => [node.node_id, node.status]));
      };
      const [small, large] = [
        await run("crs_without_code.tif"),
        await run("rgb_utm18_nodata0.tif"),
      ];
      expect([small.get("process_direct"), small.get("process_tiles")]).toEqual([
        "completed",
        "skipped",
      ]);
      expect([large.get("process_direct"), large.get("process_tiles")]).toEqual([
        "skipped",
        "completed",
      ]);
    },
    slow,
  );

  it(
    "keeps what is not alike out of a collection, names the file, and takes what is",
    async () => {
      const collection = async (...names: string[]) => {
        const blob_paths = await Promise.all(names.map(put));
        const inputs = { blob_paths, collection_id: "many" };
        const id = await submit(orchestrator, "raster_collection", inputs);
        return finished(orchestrator, id, slow);
      };
      const [mixed, alike, bad] = await Promise.all([
        collection("rgb_utm18_nodata0.tif", "dem_float32_epsg2056.tif"),
        collection("cog_no_overview.tif", "external_overview.tif").catch(() => undefined),
        collection("rgb_utm18_nodata0.tif", "rotated_no_crs.tif"),
      ]);
      expect([bad.status, bad.error?.message]).toEqual([
        "failed",
        expect.stringContaining('CRS_MISSING: "bronze/rotated_no_crs.tif"') as string,
      ]);
      expect([mixed.status, mixed.error?.code]).toEqual(["failed", "COLLECTION_NOT_HOMOGENEOUS"]);
      expect(mixed.error?.message).toContain("dem_float32_epsg2056.tif");
      // One has pixels of twice the size.
      expect(alike?.error?.message).toMatch(/H-4/);
      const one = await collection("rgb_utm18_nodata0.tif");
      expect(one.result_data).toMatchObject({ count: 1 });
    },
    slow,
  );
});

/** Tiles of a raster are shown as the raster that they were cut from. */
async function showsOneLayer(base: string): Promise<void> {
  const get = (address: string) => fetch(`${orchestrator.url}${base}${address}`);
  const tilejson = (await (await get("/WebMercatorQuad/tilejson.json")).json()) as {
    bounds: [number, number, number, number];
    minzoom: number;
  };
  const [west, south, east, north] = tilejson.bounds;
  const middle = [(west + east) / 2, (south + north) / 2] as const;
  const zoom = tilejson.minzoom;
  const x = Math.floor(((middle[0] + 180) / 360) * 2 ** zoom);
  const latitude = (middle[1] * Math.PI) / 180;
  const y = Math.floor(((1 - Math.asinh(Math.tan(latitude)) / Math.PI) / 2) * 2 ** zoom);
  const tile = await get(`/tiles/WebMercatorQuad/${zoom}/${x}/${y}.png`);
  expect(tile.status).toBe(200);
  const { channels } = await sharp(Buffer.from(await tile.arrayBuffer())).stats();
  // Its four tiles meet in the middle of the picture, and none of them fills half of it.
  expect(channels[3]!.mean).toBeGreaterThan(255 / 3);
  const again = await fetch(tile.url, { headers: { "if-none-match": tile.headers.get("etag")! } });
  expect(again.status).toBe(304);
  const empty = await get("/tiles/WebMercatorQuad/8/0/0.png");
  expect((await sharp(Buffer.from(await empty.arrayBuffer())).stats()).channels[3]!.max).toBe(0);
  const quarter = `${west + (east - west) / 4},${middle[1]}`;
  expect((await (await get(`/point/${quarter}`)).json()) as object).toMatchObject({
    band_names: ["b1", "b2", "b3"],
  });
  expect((await get("/point/10,10")).status).toBe(404);
  expect(await (await get("/map")).text()).toContain("tilejson.json");
}

describe.skipIf(!hasGdal)("a worker that is killed in the middle of tiles (needs GDAL)", () => {
  it(
    "is replaced by one that makes only what is missing, and leaves nothing behind",
    async () => {
      const blob_path = await put("rgb_utm18_nodata0.tif");
      const heavy = { WORKER_QUEUE: "container-tasks,functionapp-tasks", WORKER_CONCURRENCY: "1" };
      const first = await fleet.worker({
        ...heavy,
        RMHDAG_FAIL_POINT: "worker.checkpoint_after_save:2",
      });
      const id = await submit(orchestrator, "raster_process", {
        blob_path,
        collection_id: "tiles",
        target_crs: "EPSG:3857",
        tile_threshold_mb: 0,
        tile_size_mb: 0.1,
        tiles_per_task: 4,
      });
      await first.gone;
      const made = (await storage.list(`silver/${id}/`)).items;
      expect(made).toHaveLength(2);
      const second = await fleet.worker(heavy);
      const job = await finished(orchestrator, id, slow);
      expect([job.status, job.error]).toEqual(["completed", null]);
      expect(job.result_data).toMatchObject({ tile_count: 4 });
      const all = (await storage.list(`silver/${id}/`)).items;
      expect(all).toHaveLength(4);
      expect(all).toEqual(expect.arrayContaining([...made]));
      await showsOneLayer(`/stac/collections/tiles/items/${job.result_data!["item_id"] as string}`);
      await showsOneLayer("/stac/collections/tiles");
      const folder = path.join(fleet.dataDirectory, "work");
      await waitFor(
        async () => {
          const inner = await Promise.all(
            (await readdir(folder)).map((name) => readdir(path.join(folder, name))),
          );
          return inner.flat().length === 0;
        },
        { what: "an empty work folder" },
      );
      second.signal("SIGTERM");
      await second.gone;
    },
    slow,
  );
});
