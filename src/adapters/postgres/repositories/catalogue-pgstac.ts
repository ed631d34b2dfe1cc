/**
 * A database that has pgstac gets everything there too, in the same transaction and under the same
 * lock of the collection: two writers in one of its partitions can deadlock. It is written through its
 * functions only, and counted afterwards, because loads that leave out items without a word are known.
 */
import type { StacCollection, StacItem } from "../../../core/catalogue/stac.ts";
import type { Transaction } from "../queryable.ts";

export interface PgstacMirror {
  upsertCollection(collection: StacCollection): Promise<void>;
  upsertItems(collectionId: string, items: readonly StacItem[]): Promise<void>;
  deleteItem(collectionId: string, itemId: string): Promise<void>;
  deleteCollection(collectionId: string): Promise<void>;
}

/** Undefined where there is no pgstac. */
export async function createPgstacMirror(tx: Transaction): Promise<PgstacMirror | undefined> {
  const { rows } = await tx.query<{ there: boolean }>(
    `SELECT to_regnamespace('pgstac') IS NOT NULL
       AND to_regproc('pgstac.upsert_items') IS NOT NULL AS there`,
  );
  if (rows[0]?.there !== true) return undefined;
  // Its functions find each other by this path. It ends with the transaction.
  await tx.query(`SET LOCAL search_path TO pgstac, public`);
  const count = async (collectionId: string, ids: readonly string[]) => {
    const { rows: found } = await tx.query<{ count: number }>(
      `SELECT count(*) FROM pgstac.items WHERE collection = $1 AND id = ANY($2::text[])`,
      [collectionId, ids],
    );
    return found[0]?.count ?? 0;
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
        throw new Error(`Of ${items.length} items pgstac has ${written} after writing them.`);
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
