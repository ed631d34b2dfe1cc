import pLimit from "p-limit";
import { upsertItems } from "../../../adapters/postgres/repositories/catalogue.ts";
import { defineHandler } from "../../define-handler.ts";
import { buildItem } from "./build-item.ts";
import { demandDatabase } from "./demand-database.ts";
import { describeRaster, rastersAtOnce } from "./describe-raster.ts";
import { findFootprints } from "./find-footprints.ts";
import { placed } from "./whole-footprint.ts";

export const registerItems = defineHandler(
  "raster.stac_register_items",
  async (params, context) => {
    const database = demandDatabase(context);
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
      const wishes = { collection_id, item_id, title, datetime, properties, platform };
      return [buildItem(context, wishes, [file], footprint)];
    });
    const { item_ids } = await upsertItems(database, collection_id, items);
    return { collection_id, item_ids, count: item_ids.length };
  },
);
