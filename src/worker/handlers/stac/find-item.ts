import { findItem as find } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { usedByOthers } from "../../../adapters/postgres/queries/catalogue-sources.ts";
import { sourcesOf } from "../../../core/catalogue/stac.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { demandDatabase } from "./demand-database.ts";

export const findItem = defineHandler("stac.find_item", async (params, context) => {
  const database = demandDatabase(context);
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
