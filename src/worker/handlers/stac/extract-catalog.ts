/**
 * Handlers extract_stac_metadata (the item of a raster, not written) and stac_catalog_container (all
 * rasters of a container, in one task).
 */
import { itemIdFor } from "../../../core/catalogue/stac.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import { defineHandler } from "../../define-handler.ts";
import { buildItem } from "./build-item.ts";
import { describeRaster } from "./describe-raster.ts";
import { ensureCollection, registerItems } from "./ensure-register.ts";
import { wholeFootprint } from "./footprints.ts";
import { listRasters } from "./list-items-rasters.ts";

export const extractMetadata = defineHandler("extract_stac_metadata", async (params, context) => {
  const file = await describeRaster(context, params);
  const footprint = await wholeFootprint(context, [file]);
  const item_id = params.item_id ?? itemIdFor(params.source_path ?? file.path);
  const request = { ...params, item_id, collection_id: params.collection_id ?? "unregistered" };
  const item = buildItem(context, request, [file], footprint);
  return {
    blob_path: file.path,
    item_id,
    bbox: item.bbox,
    item: item as unknown as JsonObject,
  };
});

interface Listed {
  readonly batches: readonly (readonly { readonly blob_path: string }[])[];
  readonly count: number;
  readonly known: number;
  readonly truncated: boolean;
}

export const catalogContainer = defineHandler("stac_catalog_container", async (params, context) => {
  const { collection_id, title, ...which } = params;
  await ensureCollection.run({ collection_id, title, license: "other" }, context);
  const listed = (await listRasters.run(which, context)) as Listed;
  let registered = 0;
  for (const [index, items] of listed.batches.entries()) {
    context.signal.throwIfAborted();
    const written = await registerItems.run({ collection_id, items }, context);
    registered += (written as { count: number }).count;
    context.progress((100 * (index + 1)) / listed.batches.length, `${registered} items`);
  }
  const { count: found, known, truncated } = listed;
  return { collection_id, found, known, registered, truncated };
});
