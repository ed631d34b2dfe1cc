import pLimit from "p-limit";
import { ownerOfJob } from "../../../adapters/postgres/queries/catalogue-owners.ts";
import { listFathomRasters } from "../../../adapters/postgres/queries/fathom.ts";
import {
  ensureCollection,
  upsertItems,
} from "../../../adapters/postgres/repositories/catalogue.ts";
import { recordFathomItems } from "../../../adapters/postgres/repositories/fathom.ts";
import { buildCollection } from "../../../core/catalogue/collection.ts";
import { defineHandler } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";
import { buildItem } from "../stac/build-item.ts";
import { describeRaster, rastersAtOnce } from "../stac/describe-raster.ts";
import { findFootprints, placed } from "../stac/footprints.ts";

/** Handler fathom_stac_register: an item for each merged raster whose item does not state its checksum. */
export const stacRegister = defineHandler(
  "fathom_stac_register",
  async ({ dataset, collection_id }, context) => {
    const database = requireDatabase(context);
    const rows = await listFathomRasters(database, dataset, "merge");
    const due = rows.flatMap((row) =>
      row.made_of !== null && row.registered !== row.checksum ? [row] : [],
    );
    const owner = await ownerOfJob(database, context.job_id);
    const files = await pLimit(rastersAtOnce).map(due, async ({ path, facts }) => {
      context.signal.throwIfAborted();
      return describeRaster(context, { blob_path: path, facts });
    });
    const footprints = await findFootprints(context, files.map(placed));
    const items = due.flatMap((row, index) => {
      const [file, footprint] = [files[index], footprints[index]];
      if (file === undefined || footprint === undefined) return [];
      const { product, place, attributes, return_periods } = row;
      const properties = {
        ...Object.fromEntries(
          Object.entries(attributes).map(([name, value]) => [`rmhdag:${name}`, value]),
        ),
        "rmhdag:return_periods": [...return_periods],
      };
      const { year } = attributes;
      const span =
        year === undefined
          ? {}
          : { start_datetime: `${year}-01-01T00:00:00Z`, end_datetime: `${year}-12-31T23:59:59Z` };
      const request = {
        collection_id,
        item_id: `${dataset}-${product}-${place}`,
        properties,
        ...span,
        title: `Flood depth ${product.replaceAll("-", " ")} ${place}`,
        lineage: `Merged from ${row.inputs.length} tiles of ${dataset}, a band for each return period.`,
      };
      return [buildItem(context, request, [file], footprint)];
    });
    await ensureCollection(database, buildCollection({ collection_id, license: "other" }), owner);
    const { item_ids } = await upsertItems(database, collection_id, items, owner);
    await recordFathomItems(database, due);
    return { collection_id, item_ids, count: item_ids.length };
  },
);
