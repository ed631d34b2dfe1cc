/**
 * Copies the catalogue to pgstac where the database has it, in the same transaction and under the same
 * lock of the collection: two writers in one partition of pgstac can deadlock. Rows are written only by
 * pgstac's functions and counted afterwards, because its loads are known to omit items silently.
 */
import type { StacCollection, StacItem } from "../../../core/catalogue/stac.ts";
import type { Transaction } from "../queryable.ts";

export interface PgstacMirror {
  upsertCollection(collection: StacCollection): Promise<void>;
  upsertItems(collectionId: string, items: readonly StacItem[]): Promise<void>;
  deleteItem(collectionId: string, itemId: string): Promise<void>;
  deleteCollection(collectionId: string): Promise<void>;
}

/** Answers undefined when the database has no pgstac. */
export async function createPgstacMirror(tx: Transaction): Promise<PgstacMirror | undefined> {
  const { rows } = await tx.query<{ exists: boolean }>(
    `SELECT to_regnamespace('pgstac') IS NOT NULL
       AND to_regproc('pgstac.upsert_items') IS NOT NULL AS exists`,
  );
  if (rows[0]?.exists !== true) return undefined;
  // Functions of pgstac call each other without a schema. LOCAL: it ends with the transaction.
  await tx.query(`SET LOCAL search_path TO pgstac, public`);
  const count = async (collectionId: string, ids: readonly string[]) => {
    const { rows: counted } = await tx.query<{ count: number }>(
      `SELECT count(*) FROM pgstac.items WHERE collection = $1 AND id = ANY($2::text[])`,
      [collectionId, ids],
    );
    return counted[0]?.count ?? 0;
  };
  return {
    upsertCollection: async (collection) => {
      await tx.query(`SELECT pgstac.upsert_collection($1::jsonb)`, [JSON.stringify(collection)]);
    },
    upsertItems: async (collectionId, items) => {
      await tx.query(`SELECT pgstac.upsert_items($1::jsonb)`, [JSON.stringify(items)]);
      const written = await count(
        collectionId,
        items.map(({ id }) => id),
      );
      if (written !== items.length) {
        throw new Error(`pgstac stored ${written} of ${items.length} items.`);
      }
    },
    deleteItem: async (collectionId, itemId) => {
      if ((await count(collectionId, [itemId])) === 0) return;
      await tx.query(`SELECT pgstac.delete_item($1, $2)`, [itemId, collectionId]);
    },
    deleteCollection: async (collectionId) => {
      const { rowCount } = await tx.query(`SELECT FROM pgstac.collections WHERE id = $1`, [
        collectionId,
      ]);
      if (rowCount === 0) return;
      await tx.query(`SELECT pgstac.delete_collection($1)`, [collectionId]);
    },
  };
}
