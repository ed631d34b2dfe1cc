/** Refuses writes to what belongs to another owner. */
import type { Owner } from "../../../core/catalogue/owner.ts";
import { ownersOfSources, rightToCollection } from "../queries/catalogue-owners.ts";
import type { Queryable } from "../queryable.ts";
import { textArray } from "../text-array.ts";
import { CatalogueError } from "./catalogue-parts.ts";
import type { ItemRow } from "./catalogue-parts.ts";

/** A platform puts items into its own collections only, unless an operator allows it another one. */
export async function checkRight(
  db: Queryable,
  collectionId: string,
  by: Owner | undefined,
): Promise<void> {
  if (by?.kind !== "version") return;
  const { allowed } = await rightToCollection(db, by.platform_id, collectionId);
  if (allowed) return;
  throw new CatalogueError(
    "COLLECTION_NOT_YOURS",
    `The collection "${collectionId}" is not one of this platform: choose another name, or ask an operator to allow it.`,
  );
}

/**
 * Checks the collection, the items that would be replaced, and the files and tables that the items
 * use. A writer without an owner (`by` undefined) changes items that exist and keeps their owners.
 */
export async function checkOwners(
  db: Queryable,
  collectionId: string,
  rows: readonly ItemRow[],
  by: Owner | undefined,
): Promise<void> {
  if (by === undefined) return;
  await checkRight(db, collectionId, by);
  const { rows: others } = await db.query<{ item_id: string }>(
    `SELECT item_id FROM dagapp.stac_items
     WHERE collection_id = $1 AND item_id = ANY ($2::text[])
       AND CASE WHEN $3::text IS NULL THEN asset_id IS NOT NULL
         ELSE (asset_id, version_ordinal) IS DISTINCT FROM ($3, $4::int) END
     LIMIT 1`,
    [
      collectionId,
      textArray(rows.map(({ item }) => item.id)),
      by.kind === "version" ? by.asset_id : null,
      by.kind === "version" ? by.version_ordinal : null,
    ],
  );
  if (others[0] !== undefined) {
    throw new CatalogueError(
      "ITEM_NOT_YOURS",
      `The item "${others[0].item_id}" of "${collectionId}" is there already and belongs to another owner: choose another id.`,
    );
  }
  const owners = await ownersOfSources(db, {
    paths: rows.flatMap(({ paths }) => paths),
    tables: rows.flatMap(({ tables }) => tables),
  });
  const isOwn = (owner: (typeof owners)[number]) =>
    owner === "operator"
      ? by.kind === "operator"
      : by.kind === "version" &&
        owner.asset_id === by.asset_id &&
        owner.version_ordinal === by.version_ordinal;
  if (owners.every(isOwn)) return;
  throw new CatalogueError(
    "FILES_NOT_YOURS",
    `The items for "${collectionId}" use files or tables of another owner.`,
  );
}
