import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seesAll } from "../../../core/domain/served-version.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { makeFactory } from "../../../../test/support/factories.ts";
import { collectionOf, itemOf } from "../../../../test/support/stac.ts";
import { graphOf } from "../../../../test/support/workflows.ts";
import { findCollection } from "../queries/catalogue-collections.ts";
import { findItem } from "../queries/catalogue-items.ts";
import { ownersOfSources } from "../queries/catalogue-owners.ts";
import type { Transaction } from "../queryable.ts";
import {
  deleteCollection,
  deleteItem,
  ensureCollection,
  repairCollection,
  upsertCollection,
  upsertItems,
} from "./catalogue.ts";
import { lockCollection } from "./catalogue-parts.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.query(
    "TRUNCATE dagapp.stac_collections, dagapp.stac_items, dagapp.stac_revision_items",
  );
});

async function count(id: string): Promise<number> {
  const { rows } = await database.db.query<{ item_count: number }>(
    `SELECT item_count FROM dagapp.stac_collections WHERE collection_id = $1`,
    [id],
  );
  return rows[0]!.item_count;
}
const extent = async (id: string) => (await findCollection(database.db, seesAll, id))!.extent;

describe("a collection", () => {
  it("is made once, then changed or left alone", async () => {
    const { db } = database;
    expect(await ensureCollection(db, collectionOf("dem"))).toEqual({ created: true });
    expect(await ensureCollection(db, { ...collectionOf("dem"), license: "MIT" })).toEqual({
      created: false,
    });
    expect((await findCollection(db, seesAll, "dem"))!.license).toBe("CC-BY-4.0");
    expect(await upsertCollection(db, { ...collectionOf("dem"), license: "MIT" })).toEqual({
      created: false,
    });
    expect((await findCollection(db, seesAll, "dem"))!.license).toBe("MIT");
  });

  it("covers what its items cover, also after one is moved and one is deleted", async () => {
    const { db } = database;
    await upsertCollection(db, collectionOf("dem"));
    expect(await extent("dem")).toEqual({
      spatial: { bbox: [[-180, -90, 180, 90]] },
      temporal: { interval: [[null, null]] },
    });
    const a = itemOf("dem", "a", { bbox: [5, 45, 10, 50], datetime: "2020-01-01T00:00:00Z" });
    const b = itemOf("dem", "b", { bbox: [20, 40, 21, 41], datetime: "2021-01-01T00:00:00Z" });
    await upsertItems(db, "dem", [a]);
    await upsertItems(db, "dem", [b]);
    expect(await extent("dem")).toEqual({
      spatial: { bbox: [[5, 40, 21, 50]] },
      temporal: { interval: [["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"]] },
    });
    const across = itemOf("dem", "b", { bbox: [178, -20, -177, -10] });
    await upsertItems(db, "dem", [across]);
    expect((await extent("dem")).spatial.bbox).toEqual([[5, -20, -177, 50]]);
    await deleteItem(db, "dem", "a");
    expect(await extent("dem")).toEqual({
      spatial: { bbox: [[178, -20, -177, -10]] },
      temporal: { interval: [["2020-06-01T00:00:00.000Z", "2020-06-01T00:00:00.000Z"]] },
    });
    expect(await count("dem")).toBe(1);
  });

  it("measured anew is what it was", async () => {
    const { db } = database;
    await upsertCollection(db, collectionOf("dem"));
    const items = [
      itemOf("dem", "a", { bbox: [-5, 45, 10, 50] }),
      itemOf("dem", "b", { bbox: [178, -20, -177, -10], datetime: "2001-01-01T00:00:00Z" }),
    ];
    await upsertItems(db, "dem", items);
    const before = await extent("dem");
    await db.query(`UPDATE dagapp.stac_collections SET coverage = NULL, item_count = 77`);
    await repairCollection(db, "dem");
    expect((await extent("dem")).spatial).toEqual(before.spatial);
    expect(await count("dem")).toBe(2);
  });

  it("is deleted only when it is empty, and can come back under the same name", async () => {
    const { db } = database;
    await upsertCollection(db, collectionOf("dem"));
    await upsertItems(db, "dem", [itemOf("dem", "a")]);
    await expect(deleteCollection(db, "dem")).rejects.toThrow(/has 1 items: unpublish them first/);
    await deleteItem(db, "dem", "a");
    expect(await deleteCollection(db, "dem")).toBe(true);
    expect(await deleteCollection(db, "dem")).toBe(false);
    await upsertCollection(db, collectionOf("dem"));
    await upsertItems(db, "dem", [itemOf("dem", "a")]);
    expect(await count("dem")).toBe(1);
  });
});

describe("items", () => {
  it("are written once, replaced when they differ, and untouched when they do not", async () => {
    const { db } = database;
    await upsertCollection(db, collectionOf("dem"));
    const a = itemOf("dem", "a");
    expect(await upsertItems(db, "dem", [a])).toEqual({ item_ids: ["a"], written: 1 });
    expect(await upsertItems(db, "dem", [a])).toEqual({ item_ids: ["a"], written: 0 });
    const changed = itemOf("dem", "a", { datetime: "2022-01-01T00:00:00Z" });
    expect(await upsertItems(db, "dem", [changed])).toEqual({ item_ids: ["a"], written: 1 });
    expect(await findItem(db, seesAll, "dem", "a")).toEqual(changed);
    expect(await count("dem")).toBe(1);
  });

  it("of one batch are written all or none", async () => {
    const { db } = database;
    await expect(upsertItems(db, "none", [itemOf("none", "a")])).rejects.toMatchObject({
      code: "COLLECTION_NOT_FOUND",
    });
    await upsertCollection(db, collectionOf("dem"));
    const twice = [itemOf("dem", "a"), itemOf("dem", "b"), itemOf("dem", "a")];
    await expect(upsertItems(db, "dem", twice)).rejects.toThrow(/"a" occurs twice/);
    const backwards = itemOf("dem", "c", {
      properties: { start_datetime: "2021-01-01T00:00:00Z", end_datetime: "2020-01-01T00:00:00Z" },
    });
    await expect(upsertItems(db, "dem", [itemOf("dem", "a"), backwards])).rejects.toThrow();
    expect(await count("dem")).toBe(0);
    expect(await findItem(db, seesAll, "dem", "a")).toBeUndefined();
  });

  it("from many writers at once are all there, and counted", async () => {
    const { db } = database;
    await upsertCollection(db, collectionOf("dem"));
    await Promise.all(
      Array.from({ length: 20 }, (_, writer) =>
        upsertItems(
          db,
          "dem",
          Array.from({ length: 5 }, (_each, index) =>
            itemOf("dem", `i-${writer}-${index}`, { bbox: [writer, 0, writer + 1, 1] }),
          ),
        ),
      ),
    );
    expect(await count("dem")).toBe(100);
    expect((await extent("dem")).spatial.bbox).toEqual([[0, 0, 20, 1]]);
  });

  it("know the files and tables that they stand on", async () => {
    const { db } = database;
    await upsertCollection(db, collectionOf("dem"));
    const assets = {
      data: { href: "/x", "rmhdag:path": 'silver/a "b", {c}.tif' },
      features: { href: "/y", "rmhdag:table": "roads" },
    };
    await upsertItems(db, "dem", [itemOf("dem", "a", { assets }), itemOf("dem", "b")]);
    const { rows } = await db.query(`SELECT paths, tables FROM dagapp.stac_items ORDER BY item_id`);
    expect(rows).toEqual([
      { paths: ['silver/a "b", {c}.tif'], tables: ["roads"] },
      { paths: [], tables: [] },
    ]);
  });

  it("know the job that wrote their files, and what it read", async () => {
    const { db } = database;
    const graph = graphOf({ workflow_id: "make", nodes: { cog: { handler: "echo" } } });
    const factory = makeFactory(db);
    await factory.workflow(graph);
    const job = await factory.job(graph);
    await upsertCollection(db, collectionOf("dem"));
    const path = `silver/${job}/cog/a.tif`;
    const assets = { data: { href: "/x", "rmhdag:path": path } };
    const properties = { "rmhdag:derived_from": "bronze/a.tif" };
    await upsertItems(db, "dem", [itemOf("dem", "a", { assets, properties })]);
    const { rows } = await db.query(
      `SELECT source_id, relation, target_id FROM dagapp.dag_dataset_refs
       WHERE $1 IN (source_id, target_id) OR $2 IN (source_id, target_id) ORDER BY relation`,
      [path, job],
    );
    expect(rows).toEqual([
      { source_id: path, relation: "described_by", target_id: "dem/a" },
      { source_id: "bronze/a.tif", relation: "made_into", target_id: path },
      { source_id: "bronze/a.tif", relation: "read_by", target_id: job },
      { source_id: job, relation: "wrote", target_id: path },
    ]);
    const { rows: files } = await db.query(
      `SELECT job_id FROM dagapp.dag_blob_assets WHERE path = $1`,
      [path],
    );
    expect(files).toEqual([{ job_id: job }]);
  });

  it("are compressed with LZ4 where the server has it", async () => {
    const { rows } = await database.db.query<{ has: boolean; columns: number }>(
      `SELECT 'lz4' = ANY (enumvals) AS has, (SELECT count(*) FROM pg_attribute
         WHERE attrelid IN ('dagapp.stac_items'::regclass, 'dagapp.stac_revision_items'::regclass)
           AND attname IN ('item', 'properties') AND attcompression = 'l') AS columns
       FROM pg_settings WHERE name = 'default_toast_compression'`,
    );
    expect(rows[0]!.columns).toBe(rows[0]!.has ? 3 : 0);
  });

  it("look up the references and the owners of their own, however many the catalogue has", async () => {
    const { db } = database;
    await upsertCollection(db, collectionOf("dem"));
    const read = async (tx: Transaction, table: string): Promise<number> => {
      const { rows } = await tx.query<{ read: number }>(
        `SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS read
         FROM pg_stat_xact_user_tables WHERE relname = $1`,
        [table],
      );
      return rows[0]!.read;
    };
    // One connection, whose plans are made while the tables are empty.
    await db.transaction(async (tx) => {
      await lockCollection(tx, "dem");
      for (let batch = 0; batch < 8; batch++) {
        const before = [await read(tx, "dag_dataset_refs"), await read(tx, "stac_items")];
        const paths = Array.from({ length: 200 }, (_, each) => `silver/${batch * 200 + each}.tif`);
        expect(await ownersOfSources(tx, { paths, tables: [] })).toEqual([]);
        await tx.query(
          `INSERT INTO dagapp.stac_items (collection_id, item_id, item, box, starts_at, ends_at, paths)
           SELECT 'dem', path, '{"properties": {}}', box(point(0, 0), point(1, 1)), now(), now(),
             ARRAY[path] FROM unnest($1::text[]) AS path`,
          [paths],
        );
        const after = [await read(tx, "dag_dataset_refs"), await read(tx, "stac_items")];
        for (const [index, each] of after.entries()) {
          expect(each - before[index]!).toBeLessThanOrEqual(200);
        }
      }
    });
    const { rows } = await db.query(
      "SELECT count(*)::int AS refs FROM dagapp.dag_dataset_refs WHERE target_id LIKE 'dem/silver/%'",
    );
    expect(rows).toEqual([{ refs: 1600 }]);
  });
});
