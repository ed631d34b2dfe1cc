/**
 * Items of the versions of assets. The job of a revision stores its items beside the catalogue; the
 * transaction that ends the job shows them. So a job that fails, or is cancelled, changes no item that
 * is shown, and a rollback shows the items of an earlier revision again.
 */
import type { VersionOwner } from "../../../core/catalogue/owner.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import type { Database } from "../database.ts";
import type { Transaction } from "../queryable.ts";
import { givenItems, lockCollection, mirrorCollection, recompute } from "./catalogue-parts.ts";

type Revision = Pick<VersionOwner, "asset_id" | "version_ordinal" | "revision">;
type Version = Omit<Revision, "revision">;

/** `columns` are the values of `givenItems`. Answers the number of items. */
export async function stageItems(
  tx: Transaction,
  { asset_id, version_ordinal, revision }: Revision,
  collectionId: string,
  columns: readonly unknown[],
): Promise<number> {
  const { rowCount } = await tx.query(
    `INSERT INTO dagapp.stac_revision_items (asset_id, version_ordinal, revision, collection_id,
       item_id, item, box, box_beyond, starts_at, ends_at, paths, tables)
     SELECT $1, $2, $3, $4, given.* FROM (${givenItems(5)}) AS given
     ON CONFLICT (asset_id, version_ordinal, revision, collection_id, item_id) DO UPDATE SET
       item = excluded.item, box = excluded.box, box_beyond = excluded.box_beyond,
       starts_at = excluded.starts_at, ends_at = excluded.ends_at, paths = excluded.paths,
       tables = excluded.tables`,
    [asset_id, version_ordinal, revision, collectionId, ...columns],
  );
  return rowCount ?? 0;
}

/** Makes the items of this revision the items of its version. Needs the lock of the asset. */
export async function publishRevision(
  tx: Transaction,
  { asset_id, version_ordinal, revision }: Revision,
): Promise<void> {
  const version = [asset_id, version_ordinal];
  const collections = await lockCollectionsOf(tx, { asset_id, version_ordinal }, revision);
  if (collections.length === 0) return;
  const { rows: gone } = await tx.query<{ collection_id: string; item_id: string }>(
    `DELETE FROM dagapp.stac_items AS items
     WHERE asset_id = $1 AND version_ordinal = $2 AND NOT EXISTS (
       SELECT FROM dagapp.stac_revision_items AS made
       WHERE made.asset_id = $1 AND made.version_ordinal = $2 AND made.revision = $3
         AND made.collection_id = items.collection_id AND made.item_id = items.item_id)
     RETURNING collection_id, item_id`,
    [...version, revision],
  );
  const { rows: shown } = await tx.query<{ collection_id: string; item: StacItem }>(
    `INSERT INTO dagapp.stac_items AS known (collection_id, item_id, item, box, box_beyond,
       starts_at, ends_at, paths, tables, asset_id, version_ordinal)
     SELECT collection_id, item_id, item, box, box_beyond, starts_at, ends_at, paths, tables,
       asset_id, version_ordinal
     FROM dagapp.stac_revision_items
     WHERE asset_id = $1 AND version_ordinal = $2 AND revision = $3
     ON CONFLICT (collection_id, item_id) DO UPDATE SET
       item = excluded.item, box = excluded.box, box_beyond = excluded.box_beyond,
       starts_at = excluded.starts_at, ends_at = excluded.ends_at, paths = excluded.paths,
       tables = excluded.tables, updated_at = now()
     -- Another owner may have taken the id since the items were checked: its item stays.
     WHERE known.asset_id = excluded.asset_id AND known.version_ordinal = excluded.version_ordinal
     RETURNING collection_id, item`,
    [...version, revision],
  );
  await finish(tx, collections, gone, shown);
}

/** Deletes the items of all revisions of a version; answers the ids of those that were shown. */
export async function deleteVersionItems(db: Database, version: Version): Promise<string[]> {
  return db.transaction(async (tx) => {
    const collections = await lockCollectionsOf(tx, version, undefined);
    const { rows } = await tx.query<{ collection_id: string; item_id: string }>(
      `WITH made AS (
         DELETE FROM dagapp.stac_revision_items WHERE asset_id = $1 AND version_ordinal = $2)
       DELETE FROM dagapp.stac_items WHERE asset_id = $1 AND version_ordinal = $2
       RETURNING collection_id, item_id`,
      [version.asset_id, version.version_ordinal],
    );
    await finish(tx, collections, rows, []);
    return rows.map(({ item_id }) => item_id);
  });
}

/** Locks in the order of collection ids, so that two transactions cannot deadlock. */
async function lockCollectionsOf(
  tx: Transaction,
  { asset_id, version_ordinal }: Version,
  revision: number | undefined,
): Promise<readonly string[]> {
  const { rows } = await tx.query<{ collection_id: string }>(
    `SELECT collection_id FROM dagapp.stac_items WHERE asset_id = $1 AND version_ordinal = $2
     UNION
     SELECT collection_id FROM dagapp.stac_revision_items
     WHERE asset_id = $1 AND version_ordinal = $2 AND ($3::int IS NULL OR revision = $3)
     ORDER BY collection_id`,
    [asset_id, version_ordinal, revision ?? null],
  );
  const collections = rows.map(({ collection_id }) => collection_id);
  for (const collection of collections) await lockCollection(tx, collection);
  return collections;
}

async function finish(
  tx: Transaction,
  collections: readonly string[],
  gone: readonly { readonly collection_id: string; readonly item_id: string }[],
  shown: readonly { readonly collection_id: string; readonly item: StacItem }[],
): Promise<void> {
  for (const collection of collections) {
    await recompute(tx, collection);
    const mirror = await mirrorCollection(tx, collection);
    if (mirror === undefined) continue;
    const ofIt = (each: { readonly collection_id: string }) => each.collection_id === collection;
    for (const { item_id } of gone.filter(ofIt)) await mirror.deleteItem(collection, item_id);
    const items = shown.filter(ofIt).map(({ item }) => item);
    if (items.length > 0) await mirror.upsertItems(collection, items);
  }
}
