/**
 * Writes the catalogue. A collection has one writer at a time, by a lock that ends with the
 * transaction: the extent and the count of a collection depend on all its items, and two concurrent
 * writers would each omit the items that the other added. Items are counted after they were written.
 */
import { boxesOf } from "../../../core/geometry/boxes.ts";
import type { Box } from "../../../core/geometry/boxes.ts";
import { coverageOf, widen } from "../../../core/catalogue/extent.ts";
import type { Coverage } from "../../../core/catalogue/extent.ts";
import { sourcesOf, spanOf } from "../../../core/catalogue/stac.ts";
import type { StacCollection, StacItem } from "../../../core/catalogue/stac.ts";
import { extentOf } from "../../../core/catalogue/collection.ts";
import { KnownError } from "../../runtime/known-error.ts";
import type { Database } from "../database.ts";
import type { Transaction } from "../queryable.ts";
import { coverageText } from "../queries/catalogue-collections.ts";
import { createPgstacMirror } from "./catalogue-pgstac.ts";
import type { PgstacMirror } from "./catalogue-pgstac.ts";

type CatalogueProblem =
  "COLLECTION_NOT_FOUND" | "DUPLICATE_ITEM" | "ITEMS_NOT_WRITTEN" | "COLLECTION_NOT_EMPTY";

class CatalogueError extends KnownError {
  constructor(code: CatalogueProblem, message: string) {
    super(code, code === "ITEMS_NOT_WRITTEN" ? "transient" : "permanent", message);
  }
}

/** Creates a collection, or updates its description and keeps its items. */
export async function upsertCollection(
  db: Database,
  collection: StacCollection,
): Promise<{ created: boolean }> {
  return db.transaction(async (tx) => {
    await lockCollection(tx, collection.id);
    const { rows } = await tx.query<{ created: boolean }>(
      `INSERT INTO dagapp.stac_collections AS known (collection_id, collection) VALUES ($1, $2)
       ON CONFLICT (collection_id) DO UPDATE SET
         collection = excluded.collection,
         updated_at = CASE WHEN known.collection = excluded.collection THEN known.updated_at ELSE now() END
       RETURNING xmax = 0 AS created`,
      [collection.id, JSON.stringify({ ...collection, extent: undefined })],
    );
    await mirrorCollection(tx, collection.id);
    return { created: rows[0]?.created === true };
  });
}

/** Creates a collection; an existing one stays unchanged. */
export async function ensureCollection(
  db: Database,
  collection: StacCollection,
): Promise<{ created: boolean }> {
  const { rows } = await db.query(`SELECT FROM dagapp.stac_collections WHERE collection_id = $1`, [
    collection.id,
  ]);
  return rows.length > 0 ? { created: false } : upsertCollection(db, collection);
}

/** Writes all items or none. An existing item is replaced, and an identical one is not written. */
export async function upsertItems(
  db: Database,
  collectionId: string,
  items: readonly StacItem[],
): Promise<{ item_ids: string[]; written: number }> {
  const ids = items.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) {
    const twice = ids.find((id, index) => ids.indexOf(id) !== index) ?? "";
    throw new CatalogueError("DUPLICATE_ITEM", `The item "${twice}" occurs twice in one batch.`);
  }
  const rows = items.map((item) => ({ item, boxes: boxesOf(item.bbox), ...spanOf(item) }));
  return db.transaction(async (tx) => {
    await lockCollection(tx, collectionId);
    const known = await readCoverage(tx, collectionId);
    const { rows: changed } = await tx.query<{ item_id: string; inserted: boolean }>(
      `INSERT INTO dagapp.stac_items AS known
         (collection_id, item_id, item, box, box_beyond, starts_at, ends_at, paths, tables)
       SELECT $1, item_id, item::jsonb, box::box, box_beyond::box, starts_at, ends_at,
         ARRAY(SELECT jsonb_array_elements_text(paths::jsonb)),
         ARRAY(SELECT jsonb_array_elements_text(tables::jsonb))
       FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[],
         $7::timestamptz[], $8::text[], $9::text[])
         AS given (item_id, item, box, box_beyond, starts_at, ends_at, paths, tables)
       ON CONFLICT (collection_id, item_id) DO UPDATE SET
         item = excluded.item, box = excluded.box, box_beyond = excluded.box_beyond,
         starts_at = excluded.starts_at, ends_at = excluded.ends_at, paths = excluded.paths,
         tables = excluded.tables, updated_at = now()
       WHERE known.item <> excluded.item OR NOT known.box ~= excluded.box
         OR (known.starts_at, known.ends_at, known.paths, known.tables)
           <> (excluded.starts_at, excluded.ends_at, excluded.paths, excluded.tables)
         OR known.box_beyond::text IS DISTINCT FROM excluded.box_beyond::text
       RETURNING item_id, xmax = 0 AS inserted`,
      [
        collectionId,
        ids,
        rows.map(({ item }) => JSON.stringify(item)),
        rows.map(({ boxes }) => boxText(boxes[0])),
        rows.map(({ boxes }) => (boxes.length === 2 ? boxText(boxes[1]) : null)),
        rows.map(({ start }) => start),
        rows.map(({ end }) => end),
        rows.map(({ item }) => JSON.stringify(sourcesOf(item).paths)),
        rows.map(({ item }) => JSON.stringify(sourcesOf(item).tables)),
      ],
    );
    await verify(tx, collectionId, ids);
    if (changed.some(({ inserted }) => !inserted)) {
      await recompute(tx, collectionId);
    } else if (changed.length > 0) {
      // Only new items were added: the extent can only grow, so the other items need not be read.
      const added = rows.map(({ boxes, start, end }) => coverageOf({ boxes, start, end }));
      await tx.query(
        `UPDATE dagapp.stac_collections
         SET coverage = $2, item_count = item_count + $3, updated_at = now()
         WHERE collection_id = $1`,
        [collectionId, JSON.stringify(added.reduce(widen, known)), changed.length],
      );
    }
    const mirror = await mirrorCollection(tx, collectionId);
    await mirror?.upsertItems(collectionId, items);
    return { item_ids: ids, written: changed.length };
  });
}

/** Answers the deleted item; undefined if it did not exist. */
export async function deleteItem(
  db: Database,
  collectionId: string,
  itemId: string,
): Promise<StacItem | undefined> {
  return db.transaction(async (tx) => {
    await lockCollection(tx, collectionId);
    const { rows } = await tx.query<{ item: StacItem }>(
      `DELETE FROM dagapp.stac_items WHERE collection_id = $1 AND item_id = $2 RETURNING item`,
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
      `SELECT count(*) FROM dagapp.stac_items WHERE collection_id = $1`,
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

async function lockCollection(tx: Transaction, collectionId: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('stac ' || $1, 0))`, [
    collectionId,
  ]);
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

const recomputeText = `
UPDATE dagapp.stac_collections SET
  item_count = counted.item_count, coverage = counted.coverage, updated_at = now()
FROM (${coverageText("items.collection_id = $1")}) AS counted WHERE collection_id = $1`;

async function recompute(tx: Transaction, collectionId: string): Promise<void> {
  await tx.query(recomputeText, [collectionId]);
}

async function mirrorCollection(
  tx: Transaction,
  collectionId: string,
): Promise<PgstacMirror | undefined> {
  const mirror = await createPgstacMirror(tx);
  if (mirror === undefined) return undefined;
  const { rows } = await tx.query<{ collection: StacCollection; coverage: Coverage | null }>(
    `SELECT collection, coverage FROM dagapp.stac_collections WHERE collection_id = $1`,
    [collectionId],
  );
  const row = rows[0];
  if (row !== undefined) {
    await mirror.upsertCollection({ ...row.collection, extent: extentOf(row.coverage) });
  }
  return mirror;
}

function boxText([west, south, east, north]: Box): string {
  return `(${east},${north}),(${west},${south})`;
}
