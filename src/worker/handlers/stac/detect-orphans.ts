import pLimit from "p-limit";
import type { Database } from "../../../adapters/postgres/database.ts";
import {
  compareTables,
  knownPaths,
  pageOfPaths,
} from "../../../adapters/postgres/queries/catalogue-sources.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { demandDatabase } from "./demand-database.ts";
import { listAll } from "./list-all.ts";

/** A list that stays short, with a count that does not. */
class Findings {
  readonly listed: string[] = [];
  count = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(name: string): void {
    this.count++;
    if (this.listed.length < this.#limit) this.listed.push(name);
  }
}

export const detectOrphans = defineHandler("stac.detect_orphans", async (params, context) => {
  const database = demandDatabase(context);
  const { zones, limit } = params;
  const filesWithoutItem = new Findings(limit);
  for (const zone of zones) {
    for await (const page of listAll(context, `${zone}/`)) {
      const known = await knownPaths(database, page);
      for (const path of page) if (!known.has(path)) filesWithoutItem.add(path);
    }
  }
  const itemsWithoutFile = await findMissingFiles(context, database, new Findings(limit));
  const tables = await compareTables(database);
  const tablesWithoutItem = new Findings(limit);
  const itemsWithoutTable = new Findings(limit);
  for (const name of tables.withoutItem) tablesWithoutItem.add(name);
  for (const name of tables.missing) itemsWithoutTable.add(name);
  return {
    files_without_item: filesWithoutItem.listed,
    items_without_file: itemsWithoutFile.listed,
    tables_without_item: tablesWithoutItem.listed,
    items_without_table: itemsWithoutTable.listed,
    counts: {
      files_without_item: filesWithoutItem.count,
      items_without_file: itemsWithoutFile.count,
      tables_without_item: tablesWithoutItem.count,
      items_without_table: itemsWithoutTable.count,
    },
  };
});

const itemsAtOnce = 16;

async function findMissingFiles(context: HandlerContext, database: Database, findings: Findings) {
  let after: Awaited<ReturnType<typeof pageOfPaths>>["next"];
  do {
    context.signal.throwIfAborted();
    const page = await pageOfPaths(database, 500, after);
    await pLimit(itemsAtOnce).map(page.items, async ({ collection_id, item_id, paths }) => {
      for (const path of paths) {
        const stored = await context.storage.head(path);
        if (stored === undefined) findings.add(`${collection_id}/${item_id} ${path}`);
      }
    });
    after = page.next;
  } while (after !== undefined);
  return findings;
}
