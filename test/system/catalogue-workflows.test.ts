import { access } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import { upsertItems } from "../../src/adapters/postgres/repositories/catalogue.ts";
import type { Storage } from "../../src/adapters/storage/storage.ts";
import type { StacItem } from "../../src/core/catalogue/stac.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import { hasGdal } from "../support/gdal.ts";
import type { Orchestrator } from "../support/programs.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { readTile } from "../support/read-tile.ts";

describe.skipIf(!hasGdal)("the catalogue's workflows, as real programs (needs GDAL)", () => {
  let database: TestDatabase;
  let fleet: Fleet;
  let orchestrator: Orchestrator;
  let storage: Storage;
  beforeAll(async () => {
    database = await createTestDatabase();
    fleet = new Fleet(database.url);
    orchestrator = await fleet.orchestrator();
    await fleet.worker();
    storage = createLocalStorage(path.join(fleet.dataDirectory, "storage"));
    for (const name of ["valid_cog_uint16", "antimeridian_utm60", "dem_float32_epsg2056"]) {
      const file = fixture(`raster/${name}.tif`);
      await storage.putFile(`silver/set/${name}.tif`, file);
    }
  });
  afterAll(async () => {
    await fleet.stop();
    await database.drop();
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
