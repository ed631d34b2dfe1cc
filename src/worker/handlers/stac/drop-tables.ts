import { knownTables } from "../../../adapters/postgres/queries/catalogue-sources.ts";
import { dropGeoTable } from "../../../adapters/postgres/repositories/geo-publish.ts";
import { defineHandler } from "../../define-handler.ts";
import { demandDatabase } from "./demand-database.ts";

export const dropTables = defineHandler("stac.drop_tables", async ({ tables }, context) => {
  const database = demandDatabase(context);
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
