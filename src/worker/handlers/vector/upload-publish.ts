/** Handlers vector_upload_chunk and vector_publish: load the chunks, then publish the tables. */
import { createReadStream } from "node:fs";
import path from "node:path";
import { findPublished } from "../../../adapters/postgres/queries/geo-tables.ts";
import { loadChunk } from "../../../adapters/postgres/repositories/geo-loads.ts";
import {
  IncompleteLoad,
  publishLoad,
} from "../../../adapters/postgres/repositories/geo-publish.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { chunkPrefix } from "./chunk-writer.ts";

/**
 * Copies one chunk into the load's table. The chunk's file is fetched before the transaction
 * begins, so that no database connection waits for storage.
 */
export const uploadChunk = defineHandler("vector_upload_chunk", async ({ chunk }, context) => {
  const database = requireDatabase(context);
  const { storage, signal } = context;
  const file =
    (await storage.localPath(chunk.blob_path)) ?? path.join(context.workDir, "chunk.copy");
  if ((await storage.localPath(chunk.blob_path)) === undefined) {
    await storage.getFile(chunk.blob_path, file, { signal });
  }
  const { load_id, table_name, index } = chunk;
  const loaded = await loadChunk(database, { load_id, table_name, chunk_index: index }, () =>
    createReadStream(file, { highWaterMark: 256 * 1024, signal }),
  );
  if (loaded === undefined) {
    throw new PermanentError(
      `The load of "${table_name}" is finished or was started again by another job: run this job again to load its data.`,
      { code: "LOAD_REPLACED" },
    );
  }
  return { table_name, chunk_index: index, rows_written: loaded };
});

/** Gives the loaded tables the layer's name in one transaction, and deletes the chunks. */
export const publishVector = defineHandler("vector_publish", async ({ load_id }, context) => {
  const database = requireDatabase(context);
  await publishLoad(database, load_id).catch((error: unknown) => {
    if (error instanceof IncompleteLoad)
      throw new PermanentError(error.message, { code: "LOAD_INCOMPLETE" });
    throw error;
  });
  const tables = await findPublished(database, load_id);
  if (tables.length === 0) {
    throw new PermanentError(
      `The load "${load_id}" was replaced by another job before it was complete: run this job again to load its data.`,
      { code: "LOAD_REPLACED" },
    );
  }
  await removeChunks(load_id, context);
  return {
    load_id,
    tables: tables.map(({ table_name, geometry_type, feature_count, bounds, form }) => ({
      table_name,
      geometry_type,
      feature_count,
      bounds,
      form,
    })),
    table_names: tables.map((table) => table.table_name),
    feature_count: tables.reduce((sum, table) => sum + table.feature_count, 0),
  };
});

/**
 * Runs last and never fails the task: the layer is published, and a chunk that stays is only a
 * file.
 */
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
