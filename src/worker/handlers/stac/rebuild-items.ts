import pLimit from "p-limit";
import { searchItems } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { upsertItems } from "../../../adapters/postgres/repositories/catalogue.ts";
import { keptFrom, keepBands } from "../../../core/catalogue/rebuild.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import { sourcesOf } from "../../../core/catalogue/stac.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { buildItem, checkItem } from "./build-item.ts";
import { demandDatabase } from "./demand-database.ts";
import { describeRaster, rastersAtOnce } from "./describe-raster.ts";
import { wholeFootprint } from "./whole-footprint.ts";

export const rebuildItems = defineHandler("stac.rebuild_items", async (params, context) => {
  const database = demandDatabase(context);
  const { collection_id, item_ids } = params;
  const filter = { collections: [collection_id], ids: item_ids };
  const found = await searchItems(database, seesAll, {
    ...{ filter, sort: [], limit: item_ids.length },
  });
  const built = await pLimit(rastersAtOnce).map(found.items, async ({ item }, index) => {
    context.signal.throwIfAborted();
    const rebuilt = await rebuild(context, item);
    context.progress((95 * (index + 1)) / found.items.length, item.id);
    return { id: item.id, rebuilt };
  });
  const items = built.flatMap(({ rebuilt }) => (typeof rebuilt === "string" ? [] : [rebuilt]));
  if (items.length > 0) await upsertItems(database, collection_id, items);
  const those = (answer: string) =>
    built.filter(({ rebuilt }) => rebuilt === answer).map(({ id }) => id);
  return {
    collection_id,
    rebuilt: items.map(({ id }) => id),
    missing: those("missing"),
    skipped: those("skipped"),
  };
});

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
