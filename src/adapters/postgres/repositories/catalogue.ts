/**
 * Writes the catalogue. A collection has one writer at a time, by a lock that ends with the
 * transaction: the extent and the count of a collection depend on all its items, and two concurrent
 * writers would each omit the items that the other added. Items are counted after they were written.
 */
import { coverageOf, widen } from "../../../core/catalogue/extent.ts";
import type { Coverage } from "../../../core/catalogue/extent.ts";
import type { Owner } from "../../../core/catalogue/owner.ts";
import type { StacCollection, StacItem } from "../../../core/catalogue/stac.ts";
import type { Database } from "../database.ts";
import type { Transaction } from "../queryable.ts";
import { checkOwners, checkRight } from "./catalogue-owners.ts";
import {
  CatalogueError,
  givenItems,
  itemColumns,
  lockCollection,
  mirrorCollection,
  recompute,
  toRow,
} from "./catalogue-parts.ts";
import type { ItemRow } from "./catalogue-parts.ts";
import { createPgstacMirror } from "./catalogue-pgstac.ts";
import { stageItems } from "./catalogue-revisions.ts";

/** Throws where a write must not happen. It runs under the lock of the collection. */
type Condition = (tx: Transaction) => Promise<void>;

/** Creates a collection, or updates its description and keeps its items and its owner. */
export async function upsertCollection(
  db: Database,
  collection: StacCollection,
  by?: Owner,
  before?: Condition,
): Promise<{ created: boolean }> {
  return db.transaction(async (tx) => {
    await lockCollection(tx, collection.id);
    await before?.(tx);
    await checkRight(tx, collection.id, by);
    const { rows } = await tx.query<{ created: boolean }>(
      `INSERT INTO dagapp.stac_collections AS known
         (collection_id, collection, platform_id, is_operators) VALUES ($1, $2, $3, $4)
       ON CONFLICT (collection_id) DO UPDATE SET
         collection = excluded.collection,
         is_operators = known.is_operators OR known.platform_id IS NULL AND excluded.is_operators,
         updated_at = CASE WHEN known.collection = excluded.collection THEN known.updated_at ELSE now() END
       RETURNING xmax = 0 AS created`,
      [
        collection.id,
        JSON.stringify({ ...collection, extent: undefined }),
        by?.kind === "version" ? by.platform_id : null,
        by?.kind === "operator",
      ],
    );
    await mirrorCollection(tx, collection.id);
    return { created: rows[0]?.created === true };
  });
}

/** Creates a collection; an existing one stays unchanged. */
export async function ensureCollection(
  db: Database,
  collection: StacCollection,
  by?: Owner,
): Promise<{ created: boolean }> {
  const { rows } = await db.query(`SELECT FROM dagapp.stac_collections WHERE collection_id = $1`, [
    collection.id,
  ]);
  if (rows.length === 0) return upsertCollection(db, collection, by);
  await checkRight(db, collection.id, by);
  return { created: false };
}

/**
 * Writes all items or none. Items of a version are stored with its revision; `publishRevision` shows
 * them. All others are shown at once: an existing item is replaced, and an identical one is not
 * written. Without an owner, a new item has none, and an existing one keeps its owner.
 */
export async function upsertItems(
  db: Database,
  collectionId: string,
  items: readonly StacItem[],
  by?: Owner,
  before?: Condition,
): Promise<{ item_ids: string[]; written: number }> {
  const ids = items.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) {
    const twice = ids.find((id, index) => ids.indexOf(id) !== index) ?? "";
    throw new CatalogueError("DUPLICATE_ITEM", `The item "${twice}" occurs twice in one batch.`);
  }
  const rows = items.map(toRow);
  return db.transaction(async (tx) => {
    await lockCollection(tx, collectionId);
    const known = await readCoverage(tx, collectionId);
    await before?.(tx);
    await checkOwners(tx, collectionId, rows, by);
    if (by?.kind === "version") {
      const written = await stageItems(tx, by, collectionId, itemColumns(rows));
      return { item_ids: ids, written };
    }
    const { inserted, updated } = await writeRows(tx, collectionId, rows, by);
    // A row that was written is returned; the others are there already, unless they were omitted.
    if (inserted + updated < ids.length) await verify(tx, collectionId, ids);
    if (updated > 0) {
      await recompute(tx, collectionId);
    } else if (inserted > 0) {
      // Only new items were added: the extent can only grow, so the other items need not be read.
      const added = rows.map(({ boxes, start, end }) => coverageOf({ boxes, start, end }));
      await tx.query(
        `UPDATE dagapp.stac_collections
         SET coverage = $2, item_count = item_count + $3, updated_at = now()
         WHERE collection_id = $1`,
        [collectionId, JSON.stringify(added.reduce(widen, known)), inserted],
      );
    }
    const mirror = await mirrorCollection(tx, collectionId);
    await mirror?.upsertItems(collectionId, items);
    return { item_ids: ids, written: inserted + updated };
  });
}

async function writeRows(
  tx: Transaction,
  collectionId: string,
  items: readonly ItemRow[],
  by: Owner | undefined,
): Promise<{ inserted: number; updated: number }> {
  const { rows } = await tx.query<{ inserted: number; updated: number }>(
    `WITH written AS (
       INSERT INTO dagapp.stac_items AS known
         (collection_id, item_id, item, box, box_beyond, starts_at, ends_at, paths, tables,
          is_operators)
       SELECT $1, given.*, $10 FROM (${givenItems(2)}) AS given
       ON CONFLICT (collection_id, item_id) DO UPDATE SET
         item = excluded.item, box = excluded.box, box_beyond = excluded.box_beyond,
         starts_at = excluded.starts_at, ends_at = excluded.ends_at, paths = excluded.paths,
         tables = excluded.tables, is_operators = known.is_operators OR excluded.is_operators,
         updated_at = now()
       WHERE known.item <> excluded.item OR NOT known.box ~= excluded.box
         OR (known.starts_at, known.ends_at, known.paths, known.tables)
           <> (excluded.starts_at, excluded.ends_at, excluded.paths, excluded.tables)
         OR known.box_beyond::text IS DISTINCT FROM excluded.box_beyond::text
         OR excluded.is_operators AND NOT known.is_operators
       RETURNING xmax = 0 AS is_new)
     SELECT count(*) FILTER (WHERE is_new) AS inserted, count(*) FILTER (WHERE NOT is_new) AS updated
     FROM written`,
    [collectionId, ...itemColumns(items), by?.kind === "operator"],
  );
  return rows[0] ?? { inserted: 0, updated: 0 };
}

/** Answers the deleted item; undefined if it did not exist. */
export async function deleteItem(
  db: Database,
  collectionId: string,
  itemId: string,
  before?: Condition,
): Promise<StacItem | undefined> {
  return db.transaction(async (tx) => {
    await lockCollection(tx, collectionId);
    await before?.(tx);
    const { rows } = await tx.query<{ item: StacItem }>(
      `WITH staged AS (
         DELETE FROM dagapp.stac_revision_items WHERE collection_id = $1 AND item_id = $2)
       DELETE FROM dagapp.stac_items WHERE collection_id = $1 AND item_id = $2 RETURNING item`,
      [collectionId, itemId],
    );
    if (rows[0] !== undefined) await recompute(tx, collectionId);
    const mirror = await mirrorCollection(tx, collectionId);
    await mirror?.deleteItem(collectionId, itemId);
    return rows[0]?.item;
  });
}

/** Refuses a collection with items: the files and tables that they name would become orphans. */
export async function deleteCollection(db: Database, collectionId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockCollection(tx, collectionId);
    const { rows } = await tx.query<{ count: number }>(
      `SELECT (SELECT count(*) FROM dagapp.stac_items WHERE collection_id = $1)
         + (SELECT count(*) FROM dagapp.stac_revision_items WHERE collection_id = $1) AS count`,
      [collectionId],
    );
    const count = rows[0]?.count ?? 0;
    if (count > 0) {
      throw new CatalogueError(
        "COLLECTION_NOT_EMPTY",
        `The collection "${collectionId}" has ${count} items: unpublish them first.`,
      );
    }
    const { rowCount } = await tx.query(
      `DELETE FROM dagapp.stac_collections WHERE collection_id = $1`,
      [collectionId],
    );
    const mirror = await createPgstacMirror(tx);
    await mirror?.deleteCollection(collectionId);
    return rowCount === 1;
  });
}

/** Computes the count and the extent of a collection from all of its items. */
export async function repairCollection(db: Database, collectionId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await lockCollection(tx, collectionId);
    await recompute(tx, collectionId);
    await mirrorCollection(tx, collectionId);
  });
}

async function readCoverage(tx: Transaction, collectionId: string): Promise<Coverage | null> {
  const { rows } = await tx.query<{ coverage: Coverage | null }>(
    `SELECT coverage FROM dagapp.stac_collections WHERE collection_id = $1`,
    [collectionId],
  );
  if (rows[0] !== undefined) return rows[0].coverage;
  throw new CatalogueError(
    "COLLECTION_NOT_FOUND",
    `There is no collection "${collectionId}": create it with raster.stac_ensure_collection first.`,
  );
}

async function verify(
  tx: Transaction,
  collectionId: string,
  ids: readonly string[],
): Promise<void> {
  const { rows } = await tx.query<{ count: number }>(
    `SELECT count(*) FROM dagapp.stac_items WHERE collection_id = $1 AND item_id = ANY($2::text[])`,
    [collectionId, ids],
  );
  const count = rows[0]?.count ?? 0;
  if (count === ids.length) return;
  throw new CatalogueError(
    "ITEMS_NOT_WRITTEN",
    `The collection "${collectionId}" stored ${count} of ${ids.length} items.`,
  );
}
