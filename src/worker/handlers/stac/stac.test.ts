import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seesAll } from "../../../core/domain/served-version.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createTestContext, noGdal } from "../../../../test/support/handler-context.ts";
import { stacSchemas } from "../../../../test/support/stac-schemas.ts";
import { findCollection } from "../../../adapters/postgres/queries/catalogue-collections.ts";
import { findItem as findStored } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { linkCollection, linkItem } from "../../../core/catalogue/links.ts";
import { deleteFiles, deleteItem, dropTables, findItem } from "./find-delete-drop.ts";
import { detectOrphans } from "./detect-orphans.ts";
import { ensureCollection, registerItem, registerItems } from "./ensure-register.ts";
import { listItems, listRasters } from "./list-items-rasters.ts";
import { rebuildItems, repairItems } from "./rebuild-repair.ts";

describe("the handlers of the catalogue", () => {
  let database: TestDatabase;
  let test: TestContext;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await database.db.query(
      "TRUNCATE dagapp.stac_collections, dagapp.stac_items, dagapp.stac_revision_items",
    );
    test = await createTestContext({ database: database.db });
    await test.run(ensureCollection, { collection_id: "c", title: "Some rasters" });
  });
  afterEach(() => test.dispose());

  const put = (name: string, to: string) => test.storage.putFile(to, fixture(name));
  const stored = async (id: string) => {
    const item = await findStored(database.db, seesAll, "c", id);
    if (item === undefined) throw new Error(`no item ${id}`);
    return item;
  };
  const problemsOf = (given: object) => stacSchemas(fixture("stac-schemas"))(given);

  it("make a collection once", async () => {
    expect(await test.run(ensureCollection, { collection_id: "c" })).toEqual({
      collection_id: "c",
      created: false,
    });
    const collection = await findCollection(database.db, seesAll, "c");
    expect(collection).toMatchObject({ title: "Some rasters", license: "other" });
    expect(problemsOf(linkCollection(collection!, "http://localhost"))).toEqual([]);
  });

  it("register a COG with all that its file says, the same at every try", async () => {
    await put("raster/valid_cog_uint16.tif", "silver/a/scene.tif");
    const params = {
      collection_id: "c",
      blob_path: "scene.tif",
      container: "silver/a",
      platform: { dataset_id: "0038272", request_id: "req_1" },
      source_path: "bronze/scene.tif",
      datetime: "2021-05-01T10:00:00Z",
    };
    const given = { ...params, container: undefined, blob_path: "silver/a/scene.tif" };
    const result = await test.run(registerItem, given);
    expect(result).toMatchObject({ collection_id: "c", item_id: "scene" });
    const item = await stored("scene");
    expect(problemsOf(linkItem(item, "http://localhost", seesAll))).toEqual([]);
    expect(item.properties).toMatchObject({
      datetime: "2021-05-01T10:00:00Z",
      "platform:dataset_id": "0038272",
      "platform:request_id": "req_1",
      "processing:lineage": "Made from bronze/scene.tif.",
    });
    const { data } = item.assets;
    expect(data).toMatchObject({
      type: "image/tiff; application=geotiff; profile=cloud-optimized",
      href: "/stac/collections/c/items/scene/assets/data",
      "rmhdag:path": "silver/a/scene.tif",
      "proj:shape": [2667, 2658],
      bands: [{ data_type: "uint16" }],
    });
    expect(data!["file:checksum"]).toMatch(/^1220[0-9a-f]{64}$/);
    await test.run(registerItem, given);
    expect(await stored("scene")).toEqual(item);
    const { extent } = (await findCollection(database.db, seesAll, "c"))!;
    expect(extent.spatial.bbox).toEqual([item.bbox]);
  });

  it("register the same source once, however many jobs process it", async () => {
    const ids = async () => {
      const listed = await test.run(listItems, { collection_id: "c" });
      return (listed as { batches: string[][] }).batches.flat();
    };
    for (const job of ["job-1", "job-2"]) {
      const blob_path = `silver/${job}/create_cog/dem.tif`;
      await put("raster/valid_cog_uint16.tif", blob_path);
      const given = { collection_id: "c", blob_path };
      await test.run(registerItem, { ...given, source_path: "bronze/deep/dem.tif" });
      await test.run(registerItems, {
        collection_id: "c",
        items: [{ blob_path, source_path: "bronze/other.tif" }],
      });
    }
    expect(await ids()).toEqual(["deep-dem", "other"]);
    // Without a source the name of the file counts, and not the folder of the job that wrote it.
    const own = { collection_id: "c", blob_path: "silver/job-1/create_cog/dem.tif" };
    expect(await test.run(registerItem, own)).toMatchObject({ item_id: "dem" });
  });

  it("split what lies across the antimeridian", async () => {
    await put("raster/antimeridian_utm60.tif", "silver/across.tif");
    await test.run(registerItem, { collection_id: "c", blob_path: "silver/across.tif" });
    const item = await stored("across");
    expect(item.geometry.type).toBe("MultiPolygon");
    expect(item.bbox[0]).toBeGreaterThan(170);
    expect(item.bbox[2]).toBeLessThan(-170);
    expect(problemsOf(linkItem(item, "http://localhost", seesAll))).toEqual([]);
  });

  it("keep the definition of a system without a code, and say that a time is unknown", async () => {
    await put("raster/crs_without_code.tif", "silver/laea.tif");
    await test.run(registerItem, { collection_id: "c", blob_path: "silver/laea.tif" });
    const item = await stored("laea");
    expect(item.assets["data"]).toMatchObject({ "proj:code": null });
    expect(item.assets["data"]!["proj:wkt2"]).toMatch(/^PROJCRS\[/);
    expect(item.properties).toMatchObject({
      datetime: expect.stringMatching(/^20\d\d-/) as string,
      "rmhdag:datetime_source": "unknown",
    });
    expect(problemsOf(linkItem(item, "http://localhost", seesAll))).toEqual([]);
  });

  it("register many at once, all or none, and say the ids that are there", async () => {
    await put("raster/dem_float32_epsg2056.tif", "silver/dem.tif");
    await put("raster/valid_cog_uint16.tif", "silver/scene.tif");
    const items = [{ blob_path: "silver/dem.tif" }, { blob_path: "silver/scene.tif" }];
    expect(await test.run(registerItems, { collection_id: "c", items })).toEqual({
      collection_id: "c",
      item_ids: ["dem", "scene"],
      count: 2,
    });
    const dem = await stored("dem");
    expect(dem.bbox[0]).toBeGreaterThan(5);
    expect(dem.bbox[2]).toBeLessThan(11);
    expect(problemsOf(linkItem(dem, "http://localhost", seesAll))).toEqual([]);
    const withMissing = [
      { blob_path: "silver/dem.tif", item_id: "new" },
      { blob_path: "silver/no" },
    ];
    await expect(
      test.run(registerItems, { collection_id: "c", items: withMissing }),
    ).rejects.toMatchObject({ code: "NOT_IN_STORAGE" });
    expect(await findStored(database.db, seesAll, "c", "new")).toBeUndefined();
  });

  it("refuse what has no place, what is not in storage, and an unknown collection", async () => {
    await put("raster/rotated_no_crs.tif", "silver/lost.tif");
    const register = (params: object) => test.run(registerItem, { collection_id: "c", ...params });
    await expect(register({ blob_path: "silver/lost.tif" })).rejects.toMatchObject({
      code: "CRS_MISSING",
    });
    await expect(register({ blob_path: "silver/none.tif" })).rejects.toMatchObject({
      code: "NOT_IN_STORAGE",
    });
    await put("raster/valid_cog_uint16.tif", "silver/scene.tif");
    await expect(
      register({ collection_id: "none", blob_path: "silver/scene.tif" }),
    ).rejects.toMatchObject({ code: "COLLECTION_NOT_FOUND" });
  });

  it("say that a worker without a database cannot", async () => {
    const without = await createTestContext({ gdal: noGdal });
    await expect(without.run(ensureCollection, { collection_id: "c" })).rejects.toMatchObject({
      code: "NO_DATABASE",
    });
    await without.dispose();
  });

  it("list the rasters of a container that are not catalogued", async () => {
    await put("raster/valid_cog_uint16.tif", "silver/x/a.tif");
    await put("raster/valid_cog_uint16.tif", "silver/x/b.TIF");
    await put("vector/mixed_types.geojson", "silver/x/c.geojson");
    await test.run(registerItem, { collection_id: "c", blob_path: "silver/x/a.tif" });
    const list = (more: object) =>
      test.run(listRasters, { container: "silver", prefix: "x/", ...more });
    expect(await list({})).toEqual({
      batches: [[{ blob_path: "silver/x/b.TIF" }]],
      count: 1,
      known: 1,
      truncated: false,
    });
    expect(await list({ again: true, batch_size: 1 })).toMatchObject({
      batches: [[{ blob_path: "silver/x/a.tif" }], [{ blob_path: "silver/x/b.TIF" }]],
    });
  });

  it("take away an item with the files that no other item uses", async () => {
    await put("raster/valid_cog_uint16.tif", "silver/own.tif");
    await put("raster/valid_cog_uint16.tif", "bronze/raw.tif");
    const common = { collection_id: "c", blob_path: "silver/own.tif" };
    await test.run(registerItem, { ...common, item_id: "one" });
    await test.run(registerItem, { ...common, item_id: "two" });
    const one = { collection_id: "c", item_id: "one" };
    expect(await test.run(findItem, one)).toMatchObject({ paths: [], shared: ["silver/own.tif"] });
    expect(await test.run(deleteItem, one)).toMatchObject({ deleted: true });
    expect(await test.run(deleteItem, one)).toMatchObject({ deleted: false });
    const paths = ["silver/own.tif", "bronze/raw.tif", "silver/gone.tif"];
    expect(await test.run(deleteFiles, { paths })).toEqual({
      deleted: [],
      missing: ["silver/gone.tif"],
      kept: ["silver/own.tif", "bronze/raw.tif"],
    });
    const two = { collection_id: "c", item_id: "two" };
    expect(await test.run(findItem, two)).toMatchObject({ paths: ["silver/own.tif"], shared: [] });
    await test.run(deleteItem, two);
    expect(await test.run(deleteFiles, { paths })).toMatchObject({ deleted: ["silver/own.tif"] });
    expect(await test.storage.head("bronze/raw.tif")).toBeDefined();
    await expect(test.run(findItem, two)).rejects.toMatchObject({ code: "ITEM_NOT_FOUND" });
    expect(await test.run(dropTables, { tables: ["no_such_table"] })).toEqual({
      dropped: [],
      missing: ["no_such_table"],
      kept: [],
    });
  });

  it("report what is forgotten and what is missing, and delete nothing", async () => {
    await put("raster/valid_cog_uint16.tif", "silver/kept.tif");
    await put("raster/valid_cog_uint16.tif", "silver/forgotten.tif");
    await put("raster/valid_cog_uint16.tif", "silver/lost.tif");
    for (const name of ["kept", "lost"]) {
      await test.run(registerItem, { collection_id: "c", blob_path: `silver/${name}.tif` });
    }
    await test.storage.delete("silver/lost.tif");
    await database.db.query("CREATE TABLE geo.forgotten (id integer)");
    const report = await test.run(detectOrphans, {});
    await database.db.query("DROP TABLE geo.forgotten");
    expect(report).toMatchObject({
      files_without_item: ["silver/forgotten.tif"],
      items_without_file: ["c/lost silver/lost.tif"],
      tables_without_item: ["forgotten"],
      items_without_table: [],
      counts: { files_without_item: 1 },
    });
    expect(await test.storage.head("silver/forgotten.tif")).toBeDefined();
    expect(await findStored(database.db, seesAll, "c", "lost")).toBeDefined();
  });

  it("rebuild items from their files and keep what people have said", async () => {
    await put("raster/valid_cog_uint16.tif", "silver/a.tif");
    await test.run(registerItem, {
      collection_id: "c",
      blob_path: "silver/a.tif",
      title: "A scene",
      platform: { dataset_id: "7" },
      properties: { mission: "x" },
    });
    const before = await stored("a");
    await database.db.query(`UPDATE dagapp.stac_items SET item = item || '{"bbox": [0, 0, 1, 1]}'`);
    expect(await test.run(listItems, { collection_id: "c" })).toMatchObject({ batches: [["a"]] });
    const rebuild = () => test.run(rebuildItems, { collection_id: "c", item_ids: ["a"] });
    expect(await rebuild()).toMatchObject({ rebuilt: ["a"], missing: [], skipped: [] });
    expect(await stored("a")).toEqual(before);
    await test.storage.delete("silver/a.tif");
    expect(await rebuild()).toMatchObject({ rebuilt: [], missing: ["a"] });
    expect(await stored("a")).toEqual(before);
  });

  it("repair what follows from the rest, and report what does not", async () => {
    await put("raster/valid_cog_uint16.tif", "silver/a.tif");
    await test.run(registerItem, { collection_id: "c", blob_path: "silver/a.tif" });
    await test.run(registerItem, { collection_id: "c", blob_path: "silver/a.tif", item_id: "b" });
    const before = await stored("a");
    await database.db.query(
      `UPDATE dagapp.stac_items SET box = '(0,0),(1,1)',
         item = item || CASE item_id WHEN 'a' THEN '{"bbox": [0, 0, 1, 1], "stac_version": "1.0.0"}'
           ELSE '{"geometry": null}' END::jsonb`,
    );
    await database.db.query("UPDATE dagapp.stac_collections SET item_count = 99");
    const repair = (dry_run: boolean) => test.run(repairItems, { collection_id: "c", dry_run });
    const expected = {
      checked: 2,
      repaired: [{ item_id: "a", changes: ["bbox", "stac_version"] }],
      broken: [{ item_id: "b" }],
    };
    expect(await repair(true)).toMatchObject({ ...expected, dry_run: true });
    expect((await stored("a")).bbox).toEqual([0, 0, 1, 1]);
    expect(await repair(false)).toMatchObject(expected);
    expect(await stored("a")).toEqual(before);
    const { rows } = await database.db.query<{ item_count: number; box: string }>(
      `SELECT item_count, box::text FROM dagapp.stac_collections JOIN dagapp.stac_items
         USING (collection_id) WHERE item_id = 'a'`,
    );
    expect(rows[0]!.item_count).toBe(2);
    expect(rows[0]!.box).not.toBe("(1,1),(0,0)");
  });
});
