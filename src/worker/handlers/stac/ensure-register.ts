/**
 * Handlers raster.stac_ensure_collection, raster.stac_register_item, raster.stac_register_items.
 */
import pLimit from "p-limit";
import {
  ensureCollection as ensure,
  upsertItems,
} from "../../../adapters/postgres/repositories/catalogue.ts";
import { buildCollection } from "../../../core/catalogue/collection.ts";
import { defineHandler } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";
import { buildItem, givenFootprint } from "./build-item.ts";
import { describeRaster, rastersAtOnce } from "./describe-raster.ts";
import { findFootprints, placed, wholeFootprint } from "./footprints.ts";

export const ensureCollection = defineHandler(
  "raster.stac_ensure_collection",
  async (params, context) => {
    const { created } = await ensure(requireDatabase(context), buildCollection(params));
    return { collection_id: params.collection_id, created };
  },
);

/** One item: of one raster, or of the tiles into which a raster was cut. */
export const registerItem = defineHandler("raster.stac_register_item", async (params, context) => {
  // Everything is computed before the write, so that the transaction is short.
  const database = requireDatabase(context);
  const { collection_id, blob_path, container, facts, tiles, visual, geometry } = params;
  const given = tiles ?? [{ blob_path: blob_path ?? "", container, facts }];
  const files = await pLimit(rastersAtOnce).map(given, (file) => describeRaster(context, file));
  const shown = visual == null ? undefined : await describeRaster(context, visual);
  const footprint =
    geometry == null ? await wholeFootprint(context, files) : givenFootprint(geometry);
  const item = buildItem(context, params, files, footprint, shown);
  await upsertItems(database, collection_id, [item]);
  return { collection_id, item_id: item.id, bbox: item.bbox };
});

/** Many items, one for each raster; all are written in one transaction or none is. */
export const registerItems = defineHandler(
  "raster.stac_register_items",
  async (params, context) => {
    const database = requireDatabase(context);
    const { collection_id, items: given, datetime, properties, platform } = params;
    const files = await pLimit(rastersAtOnce).map(given, async (file, index) => {
      context.signal.throwIfAborted();
      const described = await describeRaster(context, file);
      context.progress((90 * (index + 1)) / given.length, file.blob_path);
      return described;
    });
    const footprints = await findFootprints(context, files.map(placed));
    const items = footprints.flatMap((footprint, index) => {
      const [file, wanted] = [files[index], given[index]];
      if (file === undefined || wanted === undefined) return [];
      const { item_id, title } = wanted;
      const request = { collection_id, item_id, title, datetime, properties, platform };
      return [buildItem(context, request, [file], footprint)];
    });
    const { item_ids } = await upsertItems(database, collection_id, items);
    return { collection_id, item_ids, count: item_ids.length };
  },
);
