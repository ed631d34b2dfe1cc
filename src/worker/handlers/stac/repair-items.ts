import {
  repairCollection,
  upsertItems,
} from "../../../adapters/postgres/repositories/catalogue.ts";
import { itemRows } from "../../../adapters/postgres/queries/catalogue-sources.ts";
import { repairItem } from "../../../core/catalogue/repair.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import { defineHandler } from "../../define-handler.ts";
import { demandDatabase } from "./demand-database.ts";

export const repairItems = defineHandler("stac.repair_items", async (params, context) => {
  const database = demandDatabase(context);
  const { collection_id, dry_run } = params;
  const repaired: { item_id: string; changes: string[] }[] = [];
  const broken: { item_id: string; problem: string }[] = [];
  let checked = 0;
  let after: string | undefined;
  do {
    context.signal.throwIfAborted();
    const page = await itemRows(database, collection_id, 500, after);
    const good: StacItem[] = [];
    for (const { item_id, item } of page.rows) {
      checked++;
      const outcome = repairItem(collection_id, item_id, item);
      if (outcome.item === undefined) broken.push({ item_id, problem: outcome.problem });
      else good.push(outcome.item);
      if (outcome.item !== undefined && outcome.changes.length > 0) {
        repaired.push({ item_id, changes: outcome.changes });
      }
    }
    // All of them, as what stands beside an item may be wrong while the item is not.
    if (!dry_run && good.length > 0) await upsertItems(database, collection_id, good);
    after = page.next;
  } while (after !== undefined);
  if (!dry_run) await repairCollection(database, collection_id);
  return { collection_id, checked, repaired, broken, dry_run };
});
