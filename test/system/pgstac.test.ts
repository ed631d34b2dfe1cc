/**
 * A database that has pgstac gets the catalogue there too. pgstac is one large SQL file, in the wheel
 * of pypgstac (`pip download pypgstac`, then `migrations/pgstac.*.sql`); `RMHDAG_PGSTAC_SQL` names it.
 */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  deleteCollection,
  deleteItem,
  upsertCollection,
  upsertItems,
} from "../../src/adapters/postgres/repositories/catalogue.ts";
import type { TestDatabase } from "../support/database.ts";
import { rows } from "../support/embedded.ts";
import { createPostgisDatabase, hasPostgis } from "../support/postgis.ts";
import { collectionOf, itemOf } from "../support/stac.ts";

const file = process.env["RMHDAG_PGSTAC_SQL"];

describe.skipIf(file === undefined || !hasPostgis)(
  "pgstac (needs PostGIS and RMHDAG_PGSTAC_SQL)",
  () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await createPostgisDatabase();
      // The migrations leave temporary tables to nobody, and pgstac's functions make some.
      await rows(
        database.url,
        `CREATE ROLE pgstac_admin; DO $$ BEGIN
         EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO pgstac_admin', current_database());
       END $$`,
      );
      await rows(database.url, await readFile(file ?? "", "utf8"));
    });
    afterAll(() => database.drop());

    const search = async (body: object) => {
      const text = JSON.stringify(body);
      const url = new URL(database.url);
      url.searchParams.set("options", "-csearch_path=pgstac,public");
      const [found] = await rows(url.href, `SELECT pgstac.search('${text}') AS page`);
      const { features } = found!["page"] as { features: { id: string; properties: object }[] };
      return features.map(({ id }) => id).toSorted();
    };

    it("has what the catalogue has, and finds it by place and time", async () => {
      const { db } = database;
      await upsertCollection(db, collectionOf("dem"));
      await upsertCollection(db, collectionOf("sea"));
      const datetime = (day: number) => ({ datetime: `2020-01-0${day}T00:00:00Z` });
      await upsertItems(db, "dem", [
        itemOf("dem", "a", { bbox: [5, 45, 6, 46], ...datetime(1) }),
        itemOf("dem", "b", { bbox: [15, 45, 16, 46], ...datetime(2) }),
      ]);
      await upsertItems(db, "sea", [itemOf("sea", "fiji", { bbox: [178, -20, -177, -15] })]);
      expect(await search({})).toEqual(["a", "b", "fiji"]);
      expect(await search({ bbox: [4, 44, 7, 47] })).toEqual(["a"]);
      expect(await search({ datetime: "2020-01-02T00:00:00Z" })).toEqual(["b"]);
      const [extent] = await rows(
        database.url,
        `SELECT content -> 'extent' -> 'spatial' -> 'bbox' AS bbox FROM pgstac.collections WHERE id = 'dem'`,
      );
      expect(extent).toEqual({ bbox: [[5, 45, 16, 46]] });
    });

    it("follows changes and deletions", async () => {
      const { db } = database;
      await upsertItems(db, "dem", [itemOf("dem", "a", { bbox: [25, 45, 26, 46] })]);
      expect(await search({ bbox: [4, 44, 7, 47] })).toEqual([]);
      expect(await search({ bbox: [24, 44, 27, 47] })).toEqual(["a"]);
      await deleteItem(db, "dem", "a");
      await deleteItem(db, "dem", "b");
      await deleteItem(db, "dem", "b");
      await deleteCollection(db, "dem");
      expect(await search({})).toEqual(["fiji"]);
      const left = await rows(database.url, `SELECT id FROM pgstac.collections`);
      expect(left).toEqual([{ id: "sea" }]);
    });

    it("takes back with the catalogue what was not written whole", async () => {
      const twice = [itemOf("sea", "x"), itemOf("sea", "x")];
      await expect(upsertItems(database.db, "sea", twice)).rejects.toMatchObject({
        code: "DUPLICATE_ITEM",
      });
      expect(await search({ ids: ["x"] })).toEqual([]);
    });
  },
);
