import { extentOf } from "../../../core/catalogue/collection.ts";
import type { Coverage } from "../../../core/catalogue/extent.ts";
import type { StacCollection, StacItem } from "../../../core/catalogue/stac.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions, cut } from "./conditions.ts";

interface CollectionRow {
  readonly collection_id: string;
  /** Without its extent. */
  readonly collection: StacCollection;
  readonly coverage: Coverage | null;
}

export async function findCollection(
  db: Queryable,
  collectionId: string,
): Promise<StacCollection | undefined> {
  const { rows } = await db.query<CollectionRow>(
    `SELECT collection_id, collection, coverage FROM dagapp.stac_collections WHERE collection_id = $1`,
    [collectionId],
  );
  return rows[0] && toCollection(rows[0]);
}

export async function listCollections(
  db: Queryable,
  limit: number,
  after: string | undefined,
): Promise<{ collections: StacCollection[]; next: string | null }> {
  const where = new Conditions().add("collection_id > ?", after);
  const most = where.value(limit + 1);
  const { rows } = await db.query<CollectionRow>(
    `SELECT collection_id, collection, coverage FROM dagapp.stac_collections
     WHERE ${where.toString()} ORDER BY collection_id LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  return { collections: page.rows.map(toCollection), next: page.last?.collection_id ?? null };
}

/** Some of the newest: enough to see which properties there are. */
export async function sampleProperties(
  db: Queryable,
  collectionId: string | undefined,
  most: number,
): Promise<StacItem["properties"][]> {
  const where = new Conditions().add("collection_id = ?", collectionId);
  const limit = where.value(most);
  const { rows } = await db.query<{ properties: StacItem["properties"] }>(
    `SELECT properties FROM dagapp.stac_items
     WHERE ${where.toString()} ORDER BY starts_at DESC LIMIT ${limit}`,
    where.values,
  );
  return rows.map(({ properties }) => properties);
}

function toCollection({ collection, coverage }: CollectionRow): StacCollection {
  return { ...collection, extent: extentOf(coverage) };
}
