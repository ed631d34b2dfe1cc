import { createReadStream } from "node:fs";
import path from "node:path";
import { loadChunk } from "../../../adapters/postgres/repositories/geo-loads.ts";
import { defineHandler } from "../../define-handler.ts";
import { demandDatabase } from "./demand-database.ts";
import { refuse } from "./refuse.ts";

/** The file is here before the transaction begins: nobody holds a connection while bytes travel. */
export const uploadChunk = defineHandler("vector_upload_chunk", async ({ chunk }, context) => {
  const database = demandDatabase(context);
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
    throw refuse(
      "LOAD_REPLACED",
      `The load of "${table_name}" is over or was begun anew by another job: run the job again if its data should stand.`,
    );
  }
  return { table_name, chunk_index: index, rows_written: loaded };
});
