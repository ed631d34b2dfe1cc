/** Conditions of changes by curators. They run under the lock of the collection, before the write. */
import type { StacItem } from "../../../core/catalogue/stac.ts";
import type { Transaction } from "../queryable.ts";
import { CatalogueError } from "./catalogue-parts.ts";

export async function demandNewCollection(tx: Transaction, collectionId: string): Promise<void> {
  const { rowCount } = await tx.query(
    `SELECT FROM dagapp.stac_collections WHERE collection_id = $1`,
    [collectionId],
  );
  if (rowCount === 0) return;
  throw new CatalogueError(
    "COLLECTION_EXISTS",
    `There is a collection "${collectionId}" already: change it with PUT or PATCH.`,
  );
}

/** Items of revisions that are not shown yet have their ids too. */
export async function demandNewItems(
  tx: Transaction,
  collectionId: string,
  ids: readonly string[],
): Promise<void> {
  const { rows } = await tx.query<{ item_id: string }>(
    `SELECT item_id FROM dagapp.stac_items WHERE collection_id = $1 AND item_id = ANY ($2::text[])
     UNION ALL SELECT item_id FROM dagapp.stac_revision_items
     WHERE collection_id = $1 AND item_id = ANY ($2::text[]) LIMIT 1`,
    [collectionId, ids],
  );
  if (rows[0] === undefined) return;
  throw new CatalogueError(
    "ITEM_EXISTS",
    `"${collectionId}" has an item "${rows[0].item_id}" already: change it with PUT or PATCH.`,
  );
}

/** The item is as the caller has read it, and belongs to no version of an asset. */
export async function demandFreeItem(tx: Transaction, stored: StacItem): Promise<void> {
  const { rows } = await tx.query<{
    asset_id: string | null;
    version_ordinal: number | null;
    same: boolean;
  }>(
    `SELECT asset_id, version_ordinal, item = $3::jsonb AS same FROM dagapp.stac_items
     WHERE collection_id = $1 AND item_id = $2`,
    [stored.collection, stored.id, JSON.stringify(stored)],
  );
  const found = rows[0];
  if (found !== undefined && found.asset_id !== null) {
    throw new CatalogueError(
      "ITEM_GOVERNED",
      `The item belongs to version ${found.version_ordinal ?? "?"} of the asset ${found.asset_id}: ` +
        "process the version again to change it, or unpublish the version to remove it.",
    );
  }
  if (found?.same === true) return;
  throw new CatalogueError(
    "EDIT_CONFLICT",
    `The item "${stored.id}" was changed meanwhile: read it again.`,
  );
}
