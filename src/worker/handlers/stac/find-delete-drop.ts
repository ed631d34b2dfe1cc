/**
 * Handlers stac.find_item, stac.find_version, stac.delete_item, stac.delete_version,
 * stac.delete_files, stac.drop_tables: the steps of unpublishing.
 */
import { findItem as find } from "../../../adapters/postgres/queries/catalogue-items.ts";
import {
  findVersionSources,
  knownPaths,
  knownTables,
  usedByOthers,
} from "../../../adapters/postgres/queries/catalogue-sources.ts";
import { deleteItem as remove } from "../../../adapters/postgres/repositories/catalogue.ts";
import { deleteVersionItems } from "../../../adapters/postgres/repositories/catalogue-revisions.ts";
import { dropGeoTable } from "../../../adapters/postgres/repositories/geo-publish.ts";
import { sourcesOf } from "../../../core/catalogue/stac.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { listPaths } from "./list-items-rasters.ts";

/** An item with the files and tables that only this item uses, and those that it shares. */
export const findItem = defineHandler("stac.find_item", async (params, context) => {
  const database = requireDatabase(context);
  const { collection_id, item_id } = params;
  const item = await find(database, seesAll, collection_id, item_id);
  if (item === undefined) {
    throw new PermanentError(`"${collection_id}" has no item "${item_id}".`, {
      code: "ITEM_NOT_FOUND",
    });
  }
  const { paths, tables } = sourcesOf(item);
  const shared = await usedByOthers(database, params, { paths, tables });
  const own = (name: string) => !shared.has(name);
  return {
    collection_id,
    item_id,
    paths: paths.filter(own),
    tables: tables.filter(own),
    shared: [...shared],
  };
});

/** All files and tables that the jobs of a version made, also those that no item uses. */
export const findVersion = defineHandler("stac.find_version", async (params, context) => {
  const { paths, tables, jobs } = await findVersionSources(requireDatabase(context), params);
  const found = new Set(paths);
  const ofJobs = jobs.flatMap((job) => [`silver/${job}/`, `gold/${job}/`]);
  const exported = `gold/${params.asset_id}/v${params.version_ordinal}/`;
  for (const folder of [...ofJobs, exported]) {
    for await (const page of listPaths(context, folder)) for (const path of page) found.add(path);
  }
  return { paths: [...found], tables };
});

/** Deletes the items of all revisions of a version. */
export const deleteVersion = defineHandler("stac.delete_version", async (params, context) => ({
  item_ids: await deleteVersionItems(requireDatabase(context), params),
}));

export const deleteItem = defineHandler("stac.delete_item", async (params, context) => {
  const { collection_id, item_id } = params;
  const deleted = await remove(requireDatabase(context), collection_id, item_id);
  return { collection_id, item_id, deleted: deleted !== undefined };
});

/**
 * Zones whose files may be deleted: the platform made them and can make them again. Submitted files
 * (bronze) and public copies (external) stay.
 */
const deletable = /^(?:silver|gold)\//;

/** Deletes the files that no item of the catalogue names. */
export const deleteFiles = defineHandler("stac.delete_files", async ({ paths }, context) => {
  const used = await knownPaths(requireDatabase(context), paths);
  const kept = paths.filter((path) => used.has(path) || !deletable.test(path));
  const deleted: string[] = [];
  const missing: string[] = [];
  for (const path of paths.filter((each) => !kept.includes(each))) {
    context.signal.throwIfAborted();
    ((await context.storage.delete(path)) ? deleted : missing).push(path);
  }
  return { deleted, missing, kept };
});

/** Drops the tables that no item of the catalogue names. */
export const dropTables = defineHandler("stac.drop_tables", async ({ tables }, context) => {
  const database = requireDatabase(context);
  const used = await knownTables(database, tables);
  const kept = tables.filter((table) => used.has(table));
  const dropped: string[] = [];
  const missing: string[] = [];
  for (const table of tables.filter((each) => !used.has(each))) {
    context.signal.throwIfAborted();
    ((await dropGeoTable(database, table)) ? dropped : missing).push(table);
  }
  return { dropped, missing, kept };
});
