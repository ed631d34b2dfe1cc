/**
 * Handlers stac.list_items and stac.list_rasters: what a fan-out of the catalogue's workflows runs
 * over.
 */
import type { Database } from "../../../adapters/postgres/database.ts";
import { searchItems } from "../../../adapters/postgres/queries/catalogue-items.ts";
import type { ItemPlace } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { governedPaths } from "../../../adapters/postgres/queries/catalogue-owners.ts";
import { knownPaths } from "../../../adapters/postgres/queries/catalogue-sources.ts";
import type { StoredObject } from "../../../adapters/storage/storage.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";

export const listItems = defineHandler("stac.list_items", async (params, context) => {
  const { collection_id, batch_size } = params;
  const ids: string[] = [];
  for await (const page of pagesOfItems(requireDatabase(context), collection_id)) {
    context.signal.throwIfAborted();
    ids.push(...page.map(({ id }) => id));
  }
  return { collection_id, batches: inBatches(ids, batch_size), count: ids.length };
});

async function* pagesOfItems(db: Database, collectionId: string): AsyncGenerator<StacItem[]> {
  const sort = [{ path: ["id"], descending: false }];
  const filter = { collections: [collectionId] };
  let after: ItemPlace | undefined;
  for (;;) {
    const page = await searchItems(db, seesAll, { filter, sort, limit: 500, after });
    if (page.items.length > 0) yield page.items.map(({ item }) => item);
    after = page.items.at(-1)?.place;
    if (!page.more) return;
  }
}

/**
 * Rasters of a container, without those that are in the catalogue already unless `again` is set.
 */
export const listRasters = defineHandler("stac.list_rasters", async (params, context) => {
  const database = requireDatabase(context);
  const { container, prefix, extensions, batch_size, limit, again } = params;
  const found: string[] = [];
  let known = 0;
  let truncated = false;
  for await (const page of listPaths(context, `${container}/${prefix}`)) {
    const matching = page.filter((path) =>
      extensions.some((extension) => path.toLowerCase().endsWith(extension)),
    );
    // Outputs of a version are catalogued by its own job only, so that its approval decides.
    const governed = await governedPaths(database, matching);
    const rasters = matching.filter((path) => !governed.has(path));
    const catalogued = again ? new Set<string>() : await knownPaths(database, rasters);
    known += catalogued.size;
    found.push(...rasters.filter((path) => !catalogued.has(path)));
    truncated = found.length > limit;
    if (truncated) break;
  }
  const kept = found.slice(0, limit).map((blob_path) => ({ blob_path }));
  return { batches: inBatches(kept, batch_size), count: kept.length, known, truncated };
});

/** Yields every path in storage that begins with the prefix, a page at a time. */
export async function* listPaths(
  context: HandlerContext,
  prefix: string,
): AsyncGenerator<string[]> {
  for await (const page of objectsBelow(context, prefix)) yield page.map(({ path }) => path);
}

export async function* objectsBelow(
  { storage, signal }: HandlerContext,
  prefix: string,
): AsyncGenerator<readonly StoredObject[]> {
  let cursor: string | undefined;
  do {
    signal.throwIfAborted();
    const page = await storage.list(prefix, {
      limit: 1000,
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield page.items;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

function inBatches<Value>(values: readonly Value[], size: number): Value[][] {
  const count = Math.ceil(values.length / size);
  return Array.from({ length: count }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}
