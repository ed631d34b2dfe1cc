import { z } from "zod";
import { queueFor } from "../queues.ts";
import { defineContract } from "./contract.ts";
import { blobPath, bounds, container, geometry, identifier } from "./geospatial.ts";

const moment = z.iso.datetime({ offset: true });

const itemFields = {
  item_id: identifier.optional(),
  title: z.string().max(255).optional(),
  datetime: moment.optional(),
  start_datetime: moment.optional(),
  end_datetime: moment.optional(),
  properties: z.record(z.string(), z.json()).optional(),
};

const ensureCollection = defineContract({
  name: "raster.stac_ensure_collection",
  description: "Creates a STAC collection unless it is there.",
  params: z.strictObject({
    collection_id: identifier,
    title: z.string().max(255).optional(),
    description: z.string().min(1).max(4096).optional(),
    /** SPDX expression, or `other`. */
    license: z.string().min(1).max(255).default("other"),
    keywords: z.array(z.string()).optional(),
  }),
  result: z.object({ collection_id: identifier, created: z.boolean() }),
  queue: queueFor.light,
  timeout_seconds: 120,
});

const registerItem = defineContract({
  name: "raster.stac_register_item",
  description: "Registers one raster, or the tiles of one raster, as a STAC item.",
  params: z
    .strictObject({
      collection_id: identifier,
      ...itemFields,
      /** Null as well as absent: a workflow fills in the one that its branch has made. */
      blob_path: blobPath.nullish(),
      container: container.nullish(),
      /** Outputs of the nodes that wrote the tiles. */
      tiles: z.array(z.looseObject({ blob_path: blobPath })).nullish(),
      /** Of the whole, where the tiles alone do not say it. */
      bounds: bounds.nullish(),
      geometry: geometry.optional(),
    })
    .refine(({ blob_path, tiles }) => (blob_path == null) !== (tiles == null), {
      message: "needs either blob_path or tiles",
    }),
  result: z.object({ collection_id: identifier, item_id: identifier, bbox: bounds }),
  queue: queueFor.light,
  timeout_seconds: 300,
});

const registerItems = defineContract({
  name: "raster.stac_register_items",
  description: "Registers many rasters as STAC items of one collection.",
  params: z.strictObject({
    collection_id: identifier,
    items: z.array(z.looseObject({ blob_path: blobPath, container: container.optional() })).min(1),
    properties: z.record(z.string(), z.json()).optional(),
  }),
  result: z.object({
    collection_id: identifier,
    item_ids: z.array(identifier),
    count: z.number().int(),
  }),
  queue: queueFor.light,
  timeout_seconds: 600,
});

export const stacContracts = [ensureCollection, registerItem, registerItems] as const;
