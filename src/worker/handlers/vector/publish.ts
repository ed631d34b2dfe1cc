import { findPublished } from "../../../adapters/postgres/queries/geo-tables.ts";
import {
  IncompleteLoad,
  publishLoad,
} from "../../../adapters/postgres/repositories/geo-publish.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { defineHandler } from "../../define-handler.ts";
import { chunkPrefix } from "./chunk-prefix.ts";
import { demandDatabase } from "./demand-database.ts";
import { refuse } from "./refuse.ts";

export const publishVector = defineHandler("vector_publish", async ({ load_id }, context) => {
  const database = demandDatabase(context);
  await publishLoad(database, load_id).catch((error: unknown) => {
    if (error instanceof IncompleteLoad) throw refuse("LOAD_INCOMPLETE", error.message);
    throw error;
  });
  const tables = await findPublished(database, load_id);
  if (tables.length === 0) {
    throw refuse(
      "LOAD_REPLACED",
      `The load "${load_id}" was replaced by another job before it was complete: run the job again if its data should stand.`,
    );
  }
  await removeChunks(load_id, context);
  return {
    load_id,
    tables: tables.map(({ table_name, geometry_type, feature_count, bounds, form }) => ({
      ...{ table_name, geometry_type, feature_count, bounds, form },
    })),
    table_names: tables.map((table) => table.table_name),
    feature_count: tables.reduce((sum, table) => sum + table.feature_count, 0),
  };
});

/** Last, and not worth failing for: the layer is published, and what stays behind is only files. */
async function removeChunks(loadId: string, { storage, logger }: HandlerContext): Promise<void> {
  try {
    for (;;) {
      const { items } = await storage.list(`${chunkPrefix(loadId)}/`);
      if (items.length === 0) return;
      for (const item of items) await storage.delete(item.path);
    }
  } catch (error) {
    logger.warn(`The chunks of the load could not be removed: ${String(error)}`);
  }
}
