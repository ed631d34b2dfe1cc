import { searchItems } from "../../../adapters/postgres/queries/catalogue-items.ts";
import type { ItemPlace } from "../../../adapters/postgres/queries/catalogue-items.ts";
import type { Database } from "../../../adapters/postgres/database.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { defineHandler } from "../../define-handler.ts";
import { demandDatabase } from "./demand-database.ts";
import { inBatches } from "./in-batches.ts";

export const listItems = defineHandler("stac.list_items", async (params, context) => {
  const { collection_id, batch_size } = params;
  const ids: string[] = [];
  for await (const page of pagesOfItems(demandDatabase(context), collection_id)) {
    context.signal.throwIfAborted();
    ids.push(...page.map(({ id }) => id));
  }
  return { collection_id, batches: inBatches(ids, batch_size), count: ids.length };
});

export async function* pagesOfItems(
  db: Database,
  collectionId: string,
): AsyncGenerator<StacItem[]> {
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
