import { z } from "zod";
import { jsonObject } from "../model/json.ts";
import { moment } from "../model/moment.ts";
import { queueFor } from "../queues.ts";
import { rasterFacts } from "../raster/facts.ts";
import { defineContract } from "./contract.ts";
import { blobPath, bounds, container, geometry, identifier } from "./geospatial.ts";

const text = z.string().max(255);
const properties = z.record(z.string(), z.json());
const tableName = z.string().min(1).max(63);

/** Null is allowed as well as absent: a workflow passes on inputs that were not given. */
const itemFields = {
  item_id: identifier.nullish(),
  title: text.nullish(),
  /**
   * Without it the time in the file is used; without that, the item's time is marked as unknown.
   */
  datetime: moment.nullish(),
  start_datetime: moment.nullish(),
  end_datetime: moment.nullish(),
  properties: properties.nullish(),
  /** The partner's own names: dataset_id, resource_id, version_id, request_id. */
  platform: z.record(z.string().regex(/^[a-z][a-z0-9_]*$/), text).nullish(),
  /** The source file that the item was made from. */
  source_path: blobPath.nullish(),
  lineage: z.string().max(2048).nullish(),
  /** How the item is shown; derived from the kind of data if absent. */
  render: properties.nullish(),
};

/**
 * A file in storage, as the output of the node that wrote it. Fields that it holds are not read
 * from the file again.
 */
const file = z.looseObject({
  blob_path: blobPath,
  container: container.nullish(),
  facts: rasterFacts.nullish(),
});

const ensureCollection = defineContract({
  name: "raster.stac_ensure_collection",
  description: "Creates a STAC collection unless it is there.",
  params: z.strictObject({
    collection_id: identifier,
    title: text.nullish(),
    description: z.string().min(1).max(4096).nullish(),
    /** SPDX expression, or `other`. */
    license: z.string().min(1).max(255).default("other"),
    keywords: z.array(z.string()).nullish(),
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
      /** Null is allowed as well as absent: a workflow fills in the path that its branch made. */
      blob_path: blobPath.nullish(),
      container: container.nullish(),
      facts: rasterFacts.nullish(),
      /** A copy for display, as raster.create_cog returns it. */
      visual: file.nullish(),
      /** Outputs of the nodes that wrote the tiles. */
      tiles: z.array(file).min(1).nullish(),
      /** Bounds of the source, for readers of the job; the item's bounds follow from its files. */
      bounds: bounds.nullish(),
      geometry: geometry.nullish(),
    })
    .refine(({ blob_path, tiles }) => (blob_path == null) !== (tiles == null), {
      message: "needs either blob_path or tiles",
    }),
  result: z.object({ collection_id: identifier, item_id: identifier, bbox: bounds }),
  queue: queueFor.light,
  timeout_seconds: 600,
});

const register = defineContract({
  ...registerItem,
  name: "raster.stac_register",
  description: "Registers one raster, or its tiles, and creates the collection if it is missing.",
});

const registerReference = defineContract({
  name: "stac.register_reference",
  description: "Registers a COG or a STAC item of another server, which is shown without a copy.",
  params: z.strictObject({
    /** An address that ends in .tif is a COG, any other a STAC item. */
    href: z
      .string()
      .max(2048)
      .regex(/^https?:\/\//, "must be the address of a file"),
    collection_id: identifier,
    /** The asset of the STAC item that is shown. */
    asset: text.nullish(),
    item_id: identifier.nullish(),
    title: text.nullish(),
    datetime: moment.nullish(),
    properties: properties.nullish(),
    platform: itemFields.platform,
  }),
  result: z.object({
    collection_id: identifier,
    item_id: identifier,
    bbox: bounds,
    /** The address of the file that is shown. */
    href: z.string().optional(),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 600,
});

const extractMetadata = defineContract({
  name: "extract_stac_metadata",
  description: "Makes the STAC item of a raster and returns it, without writing it anywhere.",
  params: z.strictObject({
    blob_path: blobPath,
    container: container.nullish(),
    collection_id: identifier.nullish(),
    ...itemFields,
  }),
  result: z.object({
    blob_path: z.string(),
    item_id: identifier,
    bbox: bounds,
    item: jsonObject,
  }),
  queue: queueFor.heavy,
  timeout_seconds: 600,
});

const registered = z.object({
  collection_id: identifier,
  /** The items that were found in the catalogue after writing. */
  item_ids: z.array(identifier),
  count: z.number().int(),
});

const registerItems = defineContract({
  name: "raster.stac_register_items",
  description: "Registers many rasters as STAC items of one collection, all or none.",
  params: z.strictObject({
    collection_id: identifier,
    items: z
      .array(
        file.extend({
          item_id: identifier.nullish(),
          title: text.nullish(),
          source_path: blobPath.nullish(),
        }),
      )
      .min(1),
    datetime: moment.nullish(),
    properties: properties.nullish(),
    platform: itemFields.platform,
  }),
  result: registered,
  queue: queueFor.light,
  timeout_seconds: 1800,
});

const listRasters = defineContract({
  name: "stac.list_rasters",
  description: "Lists the rasters of a container in batches, without those in the catalogue.",
  params: z.strictObject({
    container,
    prefix: z.string().max(1024).default(""),
    extensions: z.array(z.string().regex(/^\.[a-z0-9]+$/)).default([".tif", ".tiff"]),
    batch_size: z.number().int().min(1).max(500).default(50),
    limit: z.number().int().min(1).max(50_000).default(10_000),
    /** Includes files that are catalogued already. */
    again: z.boolean().default(false),
  }),
  result: z.object({
    batches: z.array(z.array(z.object({ blob_path: blobPath }))),
    count: z.number().int(),
    known: z.number().int(),
    /** True if there are more than the limit. */
    truncated: z.boolean(),
  }),
  queue: queueFor.light,
  timeout_seconds: 600,
});

const catalogContainer = defineContract({
  name: "stac_catalog_container",
  description: "Registers the rasters of a container as items of one collection, in one task.",
  params: listRasters.params.extend({ collection_id: identifier, title: text.nullish() }),
  result: z.object({
    collection_id: identifier,
    found: z.number().int(),
    known: z.number().int(),
    registered: z.number().int(),
    truncated: z.boolean(),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 7200,
});

const registerBlobs = defineContract({
  name: "register_silver_blobs",
  description: "Records the files of a zone, so that those which belong to nothing are known.",
  params: z.strictObject({
    zone: z.enum(["bronze", "silver", "gold", "external"]).default("silver"),
    prefix: z.string().max(1024).default(""),
  }),
  result: z.object({
    zone: z.string(),
    registered: z.number().int(),
    bytes: z.number(),
    /** Files that were recorded before and are no longer in storage. */
    gone: z.number().int(),
    /** Files that belong to nothing, at most a thousand. */
    unreferenced: z.array(z.string()),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

const itemRef = { collection_id: identifier, item_id: identifier };

const findItem = defineContract({
  name: "stac.find_item",
  description: "Lists the files and tables that an item uses, before it is deleted.",
  params: z.strictObject(itemRef),
  result: z.object({
    ...itemRef,
    /** Files and tables that no other item uses. */
    paths: z.array(z.string()),
    tables: z.array(tableName),
    shared: z.array(z.string()),
  }),
  queue: queueFor.light,
  timeout_seconds: 60,
});

const versionRef = {
  asset_id: z.string().min(1).max(64),
  version_ordinal: z.number().int().min(0),
};

const findVersion = defineContract({
  name: "stac.find_version",
  description: "Lists the files and tables of an asset's version, before it is deleted.",
  params: z.strictObject(versionRef),
  result: z.object({ paths: z.array(z.string()), tables: z.array(tableName) }),
  queue: queueFor.light,
  timeout_seconds: 60,
});

const deleteVersion = defineContract({
  name: "stac.delete_version",
  description: "Deletes all items of an asset's version from the catalogue.",
  params: z.strictObject(versionRef),
  result: z.object({ item_ids: z.array(identifier) }),
  queue: queueFor.light,
  timeout_seconds: 120,
});

const deleteItem = defineContract({
  name: "stac.delete_item",
  description: "Deletes an item from the catalogue; a missing item is not an error.",
  params: z.strictObject(itemRef),
  result: z.object({ ...itemRef, deleted: z.boolean() }),
  queue: queueFor.light,
  timeout_seconds: 120,
});

const deleteFiles = defineContract({
  name: "stac.delete_files",
  description: "Deletes files that no item uses any more, except submitted ones.",
  params: z.strictObject({ paths: z.array(blobPath) }),
  result: z.object({
    deleted: z.array(z.string()),
    /** Files that no longer exist. */
    missing: z.array(z.string()),
    /** Files that an item uses, or that this platform may not delete. */
    kept: z.array(z.string()),
  }),
  queue: queueFor.light,
  timeout_seconds: 600,
});

const dropTables = defineContract({
  name: "stac.drop_tables",
  description: "Drops feature tables that no item uses any more.",
  params: z.strictObject({ tables: z.array(tableName) }),
  result: z.object({
    dropped: z.array(z.string()),
    missing: z.array(z.string()),
    /** Files that an item uses. */
    kept: z.array(z.string()),
  }),
  queue: queueFor.light,
  timeout_seconds: 600,
});

const orphanList = z.array(z.string());

const detectOrphans = defineContract({
  name: "stac.detect_orphans",
  description: "Compares catalogue, storage and tables in both directions. Deletes nothing.",
  params: z.strictObject({
    zones: z.array(z.enum(["silver", "gold"])).default(["silver"]),
    /** Limit of each list; the counts are of everything found. */
    limit: z.number().int().min(1).max(10_000).default(1000),
  }),
  result: z.object({
    files_without_item: orphanList,
    items_without_file: orphanList,
    tables_without_item: orphanList,
    items_without_table: orphanList,
    counts: z.object({
      files_without_item: z.number().int(),
      items_without_file: z.number().int(),
      tables_without_item: z.number().int(),
      items_without_table: z.number().int(),
    }),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

const listItems = defineContract({
  name: "stac.list_items",
  description: "Lists the items of a collection in batches.",
  params: z.strictObject({
    collection_id: identifier,
    batch_size: z.number().int().min(1).max(500).default(50),
  }),
  result: z.object({
    collection_id: identifier,
    batches: z.array(z.array(identifier)),
    count: z.number().int(),
  }),
  queue: queueFor.light,
  timeout_seconds: 600,
});

const rebuildItems = defineContract({
  name: "stac.rebuild_items",
  description: "Reads the files of items again and rewrites the items from them.",
  params: z.strictObject({ collection_id: identifier, item_ids: z.array(identifier).min(1) }),
  result: z.object({
    collection_id: identifier,
    rebuilt: z.array(identifier),
    /** Items whose files are not in storage. */
    missing: z.array(identifier),
    /** Items that are not made of rasters. */
    skipped: z.array(identifier),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

const repairItems = defineContract({
  name: "stac.repair_items",
  description:
    "Checks every item of a collection, and repairs it as far as possible without its files.",
  params: z.strictObject({ collection_id: identifier, dry_run: z.boolean().default(false) }),
  result: z.object({
    collection_id: identifier,
    checked: z.number().int(),
    repaired: z.array(z.object({ item_id: z.string(), changes: z.array(z.string()) })),
    broken: z.array(z.object({ item_id: z.string(), problem: z.string() })),
    dry_run: z.boolean(),
  }),
  queue: queueFor.light,
  timeout_seconds: 3600,
});

export const stacContracts = [
  ensureCollection,
  registerItem,
  register,
  registerItems,
  registerReference,
  extractMetadata,
  listRasters,
  catalogContainer,
  registerBlobs,
  findItem,
  findVersion,
  deleteItem,
  deleteVersion,
  deleteFiles,
  dropTables,
  detectOrphans,
  listItems,
  rebuildItems,
  repairItems,
] as const;
