import { copyFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import { ringsFile } from "../support/layers.ts";
import { describeForms } from "../support/postgis.ts";
import type { Orchestrator } from "../support/programs.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { readTile } from "../support/read-tile.ts";

/** With the real programs: from a file in storage to features and tiles over HTTP. */
describeForms("a layer that vector_etl loads", ({ form, create }) => {
  let database: TestDatabase;
  let fleet: Fleet;
  let orchestrator: Orchestrator;

  beforeAll(async () => {
    database = await create();
    fleet = new Fleet(database.url);
    orchestrator = await fleet.orchestrator();
    await fleet.worker({ VECTOR_CHUNK_SIZE: "30" });
    const bronze = path.join(fleet.dataDirectory, "storage/bronze");
    await mkdir(bronze, { recursive: true });
    await writeFile(path.join(bronze, "rings.geojson"), ringsFile());
    const zip = "wilderness_shapefile.zip";
    await copyFile(fixture(`vector/${zip}`), path.join(bronze, zip));
  });
  afterAll(async () => {
    await fleet.stop();
    await database.drop();
  });

  const get = (address: string) => fetch(`${orchestrator.url}${address}`);

  it("makes a served layer of a zipped shapefile", async () => {
    const id = await submit(orchestrator, "vector_etl", {
      blob_path: "wilderness_shapefile.zip",
      collection_id: "parks",
      item_id: "wild",
    });
    const job = await finished(orchestrator, id);
    expect(job.error).toBeNull();
    expect(job).toMatchObject({
      status: "completed",
      result_data: {
        feature_count: 67,
        stac_collection_id: "parks",
        stac_item_id: "wild",
        tables: [{ geometry_type: "MultiPolygon", form }],
      },
    });
    // In chunks of the size that the site chose.
    const { rows } = await database.db.query<{ batches: number }>(
      `SELECT count(DISTINCT etl_batch_id) AS batches FROM geo.${job.result_data!["table_name"] as string}`,
    );
    expect(rows).toEqual([{ batches: 3 }]);
    const item = await get("/stac/collections/parks/items/wild");
    expect(await item.json()).toMatchObject({ properties: { "rmhdag:feature_count": 67 } });
    const features = await get(
      "/stac/collections/parks/items/wild/features/items?limit=100&bbox=-112,38,-110,40",
    );
    const { numberMatched } = (await features.json()) as { numberMatched: number };
    expect(numberMatched).toBeGreaterThan(0);
    expect(numberMatched).toBeLessThan(67);
    const tile = await get("/stac/collections/parks/items/wild/tiles/WebMercatorQuad/4/3/6.mvt");
    const { default: layer } = readTile(new Uint8Array(await tile.arrayBuffer()));
    expect(layer!.features.length).toBeGreaterThan(10);
  });

  it("loads a large file in parallel chunks, each row once", async () => {
    const inputs = { blob_path: "bronze/rings.geojson", chunk_size: 25 };
    const job = await finished(orchestrator, await submit(orchestrator, "vector_etl", inputs));
    expect(job).toMatchObject({
      status: "completed",
      result_data: { table_name: "rings" },
    });
    const { rows } = await database.db.query<{ rows: number; ids: number; batches: number }>(
      `SELECT count(*) AS rows, count(DISTINCT fid) AS ids, count(DISTINCT etl_batch_id) AS batches
       FROM geo.rings`,
    );
    expect(rows).toEqual([{ rows: 240, ids: 240, batches: 10 }]);
  });
});
