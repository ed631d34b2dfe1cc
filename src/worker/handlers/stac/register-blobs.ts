import { databaseNow, listUnreferenced } from "../../../adapters/postgres/queries/blob-assets.ts";
import { markGone, recordFiles } from "../../../adapters/postgres/repositories/blob-assets.ts";
import { defineHandler } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";
import { objectsBelow } from "./list-items-rasters.ts";

const mostListed = 1000;

/** Handler register_silver_blobs: brings the records of files up to what storage holds. */
export const registerBlobs = defineHandler("register_silver_blobs", async (params, context) => {
  const database = requireDatabase(context);
  const { zone } = params;
  const prefix = `${zone}/${params.prefix}`;
  const began = await databaseNow(database);
  let [registered, bytes] = [0, 0];
  for await (const page of objectsBelow(context, prefix)) {
    await recordFiles(database, page);
    registered += page.length;
    for (const object of page) bytes += object.bytes;
    context.progress(0, `${registered} files`);
  }
  const gone = await markGone(database, prefix, began);
  const unreferenced = await listUnreferenced(database, { zone, limit: mostListed });
  const below = unreferenced.map(({ path }) => path).filter((path) => path.startsWith(prefix));
  return { zone, registered, bytes, gone, unreferenced: below };
});
