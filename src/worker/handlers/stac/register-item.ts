import pLimit from "p-limit";
import { upsertItems } from "../../../adapters/postgres/repositories/catalogue.ts";
import { defineHandler } from "../../define-handler.ts";
import { buildItem, givenFootprint } from "./build-item.ts";
import { demandDatabase } from "./demand-database.ts";
import { describeRaster, rastersAtOnce } from "./describe-raster.ts";
import { wholeFootprint } from "./whole-footprint.ts";

export const registerItem = defineHandler("raster.stac_register_item", async (params, context) => {
  // Everything is computed first: the database is then busy for one short transaction.
  const database = demandDatabase(context);
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
