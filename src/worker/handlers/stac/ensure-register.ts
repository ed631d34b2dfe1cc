/**
 * Handlers raster.stac_ensure_collection, raster.stac_register_item, raster.stac_register_items, and
 * raster.stac_register, which is the first and the second in one.
 */
import pLimit from "p-limit";
import { ownerOfJob } from "../../../adapters/postgres/queries/catalogue-owners.ts";
import {
  ensureCollection as ensure,
  upsertItems,
} from "../../../adapters/postgres/repositories/catalogue.ts";
import { buildCollection } from "../../../core/catalogue/collection.ts";
import { namesOf } from "../../../core/catalogue/owner.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";
import { buildItem, givenFootprint } from "./build-item.ts";
import { describeRaster, rastersAtOnce } from "./describe-raster.ts";
import { findFootprints, placed, wholeFootprint } from "./footprints.ts";
import { nameItem } from "./name-item.ts";

type RegisterParams = Parameters<
  Parameters<typeof defineHandler<"raster.stac_register_item">>[1]
>[0];

export const ensureCollection = defineHandler(
  "raster.stac_ensure_collection",
  async (params, context) => {
    const database = requireDatabase(context);
    const owner = await ownerOfJob(database, context.job_id);
    const { created } = await ensure(database, buildCollection(params), owner);
    return { collection_id: params.collection_id, created };
  },
);

/** One item: of one raster, or of the tiles into which a raster was cut. */
export const registerItem = defineHandler("raster.stac_register_item", writeItem);

export const register = defineHandler("raster.stac_register", async (params, context) => {
  await ensureCollection.run({ collection_id: params.collection_id, license: "other" }, context);
  return writeItem(params, context);
});

async function writeItem(params: RegisterParams, context: HandlerContext) {
  // Everything is computed before the write, so that the transaction is short.
  const database = requireDatabase(context);
  const { collection_id, blob_path, container, facts, tiles, visual, geometry } = params;
  const given = tiles ?? [{ blob_path: blob_path ?? "", container, facts }];
  const files = await pLimit(rastersAtOnce).map(given, (file) => describeRaster(context, file));
  const shown = visual == null ? undefined : await describeRaster(context, visual);
  const footprint =
    geometry == null ? await wholeFootprint(context, files) : givenFootprint(geometry);
  const owner = await ownerOfJob(database, context.job_id);
  const path = files[0]?.path ?? "";
  const item_id = nameItem(context.job_id, owner, { ...params, path });
  const request = { ...params, item_id, platform: namesOf(owner) ?? params.platform };
  const item = buildItem(context, request, files, footprint, shown);
  await upsertItems(database, collection_id, [item], owner);
  return { collection_id, item_id: item.id, bbox: item.bbox };
}

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
    const owner = await ownerOfJob(database, context.job_id);
    const common = { collection_id, datetime, properties, platform: namesOf(owner) ?? platform };
    const items = footprints.flatMap((footprint, index) => {
      const [file, wanted] = [files[index], given[index]];
      if (file === undefined || wanted === undefined) return [];
      const { title, source_path } = wanted;
      const item_id = nameItem(context.job_id, owner, { ...wanted, path: file.path });
      const request = { ...common, item_id, title, source_path };
      return [buildItem(context, request, [file], footprint)];
    });
    const { item_ids } = await upsertItems(database, collection_id, items, owner);
    return { collection_id, item_ids, count: item_ids.length };
  },
);
