import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import { findItem } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { ensureCollection, registerItem } from "./ensure-register.ts";
import { catalogContainer, extractMetadata } from "./extract-catalog.ts";
import { registerBlobs } from "./register-blobs.ts";

describe("handlers over whole files and containers", () => {
  let database: TestDatabase;
  let test: TestContext;
  beforeAll(async () => {
    database = await createTestDatabase();
    test = await createTestContext({ database: database.db });
    const raster = fixture("raster/valid_cog_uint16.tif");
    for (const name of ["box/a", "box/b", "other/a"]) {
      await test.storage.putFile(`silver/${name}.tif`, raster);
    }
    await test.storage.put("silver/box/notes.txt", new Uint8Array([1, 2, 3]));
  });
  afterAll(async () => {
    await test.dispose();
    await database.drop();
  });

  it("extract the item that registering would write, and write nothing", async () => {
    const params = { blob_path: "silver/other/a.tif", datetime: "2021-05-01T10:00:00Z" };
    const { item, ...extracted } = (await test.run(extractMetadata, params)) as {
      item: { bbox: number[]; properties: object; assets: object };
      item_id: string;
    };
    expect(extracted.item_id).toBe("other-a");
    expect(await findItem(database.db, seesAll, "unregistered", "other-a")).toBeUndefined();
    await test.run(ensureCollection, { collection_id: "c" });
    await test.run(registerItem, { ...params, collection_id: "c", item_id: "registered" });
    const stored = await findItem(database.db, seesAll, "c", "registered");
    expect(item.bbox).toEqual(stored?.bbox);
    expect(Object.keys(item.assets)).toEqual(Object.keys(stored?.assets ?? {}));
    expect(item.properties).toMatchObject({ datetime: "2021-05-01T10:00:00Z" });
  });

  it("catalogue every raster of a container in one task, and again only what is new", async () => {
    const params = { container: "silver/box", collection_id: "box" };
    expect(await test.run(catalogContainer, params)).toMatchObject({ found: 2, registered: 2 });
    expect(await findItem(database.db, seesAll, "box", "box-b")).toBeDefined();
    expect(await test.run(catalogContainer, params)).toMatchObject({ registered: 0, known: 2 });
  });

  it("record files with their sizes, and tell which belong to nothing or are gone", async () => {
    expect(await test.run(registerBlobs, { prefix: "box/" })).toMatchObject({
      zone: "silver",
      registered: 3,
      gone: 0,
      unreferenced: ["silver/box/notes.txt"],
    });
    await test.storage.delete("silver/box/notes.txt");
    expect(await test.run(registerBlobs, { prefix: "box/" })).toMatchObject({
      registered: 2,
      gone: 1,
      unreferenced: [],
    });
  });
});
