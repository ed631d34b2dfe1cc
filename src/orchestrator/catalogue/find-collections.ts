import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { listCollections } from "../../adapters/postgres/queries/catalogue-collections.ts";
import type { CollectionSearch } from "../../core/catalogue/match-collection.ts";
import { matchCollection } from "../../core/catalogue/match-collection.ts";
import type { StacCollection } from "../../core/catalogue/stac.ts";
import type { Viewer } from "../../core/domain/served-version.ts";

const pageSize = 500;

/** A page of the collections that match; they are compared here, because there are few of them. */
export async function findCollections(
  db: Queryable,
  viewer: Viewer,
  {
    limit,
    after,
    search,
  }: {
    readonly limit: number;
    readonly after: string | undefined;
    readonly search: CollectionSearch;
  },
): Promise<{ collections: StacCollection[]; next: string | null }> {
  const isAll = Object.values(search).every((value) => value === undefined);
  if (isAll) return listCollections(db, viewer, limit, after);
  const matches = matchCollection(search);
  const collections: StacCollection[] = [];
  let place = after;
  for (;;) {
    const page = await listCollections(db, viewer, pageSize, place);
    for (const collection of page.collections) {
      if (!matches(collection)) continue;
      if (collections.length === limit)
        return { collections, next: collections.at(-1)?.id ?? null };
      collections.push(collection);
    }
    if (page.next === null) return { collections, next: null };
    place = page.next;
  }
}
