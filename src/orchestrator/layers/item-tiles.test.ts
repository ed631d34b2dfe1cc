/** Vector tiles at the address of a catalogue item, which one statement checks and makes. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { describeForms } from "../../../test/support/postgis.ts";
import { readTile } from "../../../test/support/read-tile.ts";
import { loadSquares } from "../../../test/support/squares-table.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { openTileDatabase } from "../../adapters/postgres/hot-database.ts";
import {
  deleteItem,
  upsertCollection,
  upsertItems,
} from "../../adapters/postgres/repositories/catalogue.ts";
import type { Access } from "../../core/api/contract.ts";
import { createFeatureAnswers } from "./feature-answers.ts";
import { createItemLayers } from "./find-item-layer.ts";

const params = { collection_id: "test", item_id: "squares" };
const curator = { name: "curator", access: ["read", "curate"] as readonly Access[] };
const reader = { name: "reader", access: ["read"] as readonly Access[] };
const polygon = {
  type: "Polygon",
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ],
  ],
};

describeForms("tiles of an item", ({ form, create }) => {
  let database: TestDatabase;
  let tileDb: Database;
  let lookups = 0;
  let loads = 0;
  let ask: (x: number, caller?: typeof reader) => Promise<readonly Record<string, unknown>[]>;

  const load = (...columns: readonly string[]) =>
    loadSquares(database.db, {
      table_name: "squares",
      form,
      load_id: `load${++loads}`,
      columns: columns.map((name) => ({ name, type: "text", source: name })),
      rows: [0, 60].map((west) => ({ west, attributes: columns.join("\t") })),
    });
  const putItem = (title: string) =>
    upsertItems(database.db, params.collection_id, [
      {
        type: "Feature",
        stac_version: "1.1.0",
        id: params.item_id,
        collection: params.collection_id,
        geometry: polygon,
        bbox: [0, 0, 1, 1],
        properties: { datetime: "2026-01-01T00:00:00Z", title },
        links: [],
        assets: { features: { href: "/x", "rmhdag:table": "squares" } },
      } as never,
    ]);

  beforeAll(async () => {
    database = await create();
    tileDb = openTileDatabase({ url: database.url, applicationName: "tiles" });
    await upsertCollection(database.db, {
      type: "Collection",
      stac_version: "1.1.0",
      id: params.collection_id,
      description: "test",
      license: "other",
      links: [],
      extent: { spatial: { bbox: [[0, 0, 1, 1]] }, temporal: { interval: [[null, null]] } },
    } as never);
  });
  afterAll(async () => {
    await tileDb.close();
    await database.drop();
  });

  /** Reads the first tile, by which item and table become known. */
  beforeEach(async () => {
    await load("name", "kind");
    await putItem("Squares");
    const counting: Database = {
      ...database.db,
      query: (text, values, name) => {
        lookups++;
        return database.db.query(text, values, name);
      },
    };
    const items = createItemLayers(counting);
    const features = createFeatureAnswers(counting, tileDb);
    ask = async (x, caller = curator) => {
      const place = { z: 3, x, y: { y: 3, extension: undefined } };
      const signal = new AbortController().signal;
      const plain = { header: () => undefined, signal };
      const { body } = await features.itemTile(items, { params, caller }, place, plain);
      const tile = readTile(body as Uint8Array);
      return tile["default"]!.features.map(({ properties }) => properties);
    };
    expect(await ask(4)).toEqual([{ name: "name", kind: "kind" }]);
    lookups = 0;
  });

  it("ask for item and table together with the tile, where PostGIS makes it", async () => {
    expect(await ask(5)).toEqual([{ name: "name", kind: "kind" }]);
    expect(lookups).toBe(form === "postgis" ? 0 : 2);
    // Who may see a cached tile is asked by itself.
    await ask(5);
    expect(lookups).toBe(form === "postgis" ? 2 : 4);
  });

  it("are hidden from whom the item is hidden, and gone with it", async () => {
    await expect(ask(5, reader)).rejects.toMatchObject({ code: "ITEM_NOT_FOUND" });
    await deleteItem(database.db, params.collection_id, params.item_id);
    await expect(ask(5)).rejects.toMatchObject({ code: "ITEM_NOT_FOUND" });
  });

  it("have the columns of the newest load, and of the item as it is", async () => {
    await load("name");
    expect(await ask(5)).toEqual([{ name: "name" }]);
    await putItem("Other squares");
    lookups = 0;
    expect(await ask(4)).toEqual([{ name: "name" }]);
    expect(lookups).toBe(2);
  });
});
