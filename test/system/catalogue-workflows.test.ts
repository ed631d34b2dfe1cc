import { access } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixtures } from "../support/fixtures.ts";
import type { Orchestrator } from "../support/programs.ts";
import { Fleet, finished, submit } from "../support/programs.ts";

/** Fixtures are not part of the project: without them these tests are skipped. */
describe.skipIf(fixtures === undefined)("the catalogue's workflows, as real programs", () => {
  let database: TestDatabase;
  let fleet: Fleet;
  let orchestrator: Orchestrator;
  beforeAll(async () => {
    database = await createTestDatabase();
    fleet = new Fleet(database.url);
    orchestrator = await fleet.orchestrator();
    await fleet.worker();
    const storage = createLocalStorage(path.join(fleet.dataDirectory, "storage"));
    for (const name of ["valid_cog_uint16", "antimeridian_utm60", "dem_float32_epsg2056"]) {
      const file = path.join(fixtures ?? "", "raster", `${name}.tif`);
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
});
