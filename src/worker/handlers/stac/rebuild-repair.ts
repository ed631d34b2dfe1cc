/**
 * Handlers stac.rebuild_items (reads the files again) and stac.repair_items (reads the rows alone).
 */
import pLimit from "p-limit";
import { searchItems } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { itemRows } from "../../../adapters/postgres/queries/catalogue-sources.ts";
import {
  repairCollection,
  upsertItems,
} from "../../../adapters/postgres/repositories/catalogue.ts";
import { keepBands, keptFrom } from "../../../core/catalogue/rebuild.ts";
import { repairItem } from "../../../core/catalogue/repair.ts";
import { sourcesOf } from "../../../core/catalogue/stac.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";
import { buildItem, checkItem } from "./build-item.ts";
import { describeRaster, rastersAtOnce } from "./describe-raster.ts";
import { wholeFootprint } from "./footprints.ts";

const itemsAtOnce = 4;

/** Builds items anew from their files; titles, given times, partner names and styles are kept. */
export const rebuildItems = defineHandler("stac.rebuild_items", async (params, context) => {
  const database = requireDatabase(context);
  const { collection_id, item_ids } = params;
  const filter = { collections: [collection_id], ids: item_ids };
  const limit = item_ids.length;
  const found = await searchItems(database, seesAll, { filter, sort: [], limit });
  const built = await pLimit(itemsAtOnce).map(found.items, async ({ item }, index) => {
    context.signal.throwIfAborted();
    const rebuilt = await rebuild(context, item);
    context.progress((95 * (index + 1)) / found.items.length, item.id);
    return { id: item.id, rebuilt };
  });
  const items = built.flatMap(({ rebuilt }) => (typeof rebuilt === "string" ? [] : [rebuilt]));
  if (items.length > 0) await upsertItems(database, collection_id, items);
  const idsWith = (outcome: string) =>
    built.filter(({ rebuilt }) => rebuilt === outcome).map(({ id }) => id);
  return {
    collection_id,
    rebuilt: items.map(({ id }) => id),
    missing: idsWith("missing"),
    skipped: idsWith("skipped"),
  };
});

/**
 * "missing": a file of the item is not in storage. "skipped": the item has no files, as for a
 * table.
 */
async function rebuild(
  context: HandlerContext,
  item: StacItem,
): Promise<StacItem | "missing" | "skipped"> {
  const { paths } = sourcesOf(item);
  if (paths.length === 0) return "skipped";
  for (const path of paths) {
    if ((await context.storage.head(path)) === undefined) return "missing";
  }
  const { visual, ...others } = item.assets;
  const files = await pLimit(rastersAtOnce).map(
    Object.values(others).flatMap((asset) => asset["rmhdag:path"] ?? []),
    (blob_path) => describeRaster(context, { blob_path }),
  );
  const shown = visual?.["rmhdag:path"];
  const visualFile =
    shown === undefined ? undefined : await describeRaster(context, { blob_path: shown });
  const footprint = await wholeFootprint(context, files);
  const rebuilt = buildItem(context, keptFrom(item), files, footprint, visualFile);
  return checkItem(keepBands(rebuilt, item));
}

/**
 * Corrects the fields of an item that follow from its other fields, and the counts of its
 * collection.
 */
export const repairItems = defineHandler("stac.repair_items", async (params, context) => {
  const database = requireDatabase(context);
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
    // Also the items that needed no repair: the columns beside the item's JSON may still be wrong.
    if (!dry_run && good.length > 0) await upsertItems(database, collection_id, good);
    after = page.next;
  } while (after !== undefined);
  if (!dry_run) await repairCollection(database, collection_id);
  return { collection_id, checked, repaired, broken, dry_run };
});
