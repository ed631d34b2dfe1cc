import { knownPaths } from "../../../adapters/postgres/queries/catalogue-sources.ts";
import { defineHandler } from "../../define-handler.ts";
import { demandDatabase } from "./demand-database.ts";
import { inBatches } from "./in-batches.ts";
import { listAll } from "./list-all.ts";

export const listRasters = defineHandler("stac.list_rasters", async (params, context) => {
  const database = demandDatabase(context);
  const { container, prefix, extensions, batch_size, limit, again } = params;
  const found: string[] = [];
  let known = 0;
  let truncated = false;
  for await (const page of listAll(context, `${container}/${prefix}`)) {
    const rasters = page.filter((path) =>
      extensions.some((extension) => path.toLowerCase().endsWith(extension)),
    );
    const there = again ? new Set<string>() : await knownPaths(database, rasters);
    known += there.size;
    found.push(...rasters.filter((path) => !there.has(path)));
    truncated = found.length > limit;
    if (truncated) break;
  }
  const kept = found.slice(0, limit).map((blob_path) => ({ blob_path }));
  return { batches: inBatches(kept, batch_size), count: kept.length, known, truncated };
});
