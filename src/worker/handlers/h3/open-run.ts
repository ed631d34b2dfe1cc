/** Opens the raster of a recorded computation for windowed reads from storage. */
import { ownerOfJob } from "../../../adapters/postgres/queries/catalogue-owners.ts";
import { findH3Run } from "../../../adapters/postgres/queries/h3.ts";
import type { H3RunRow } from "../../../adapters/postgres/queries/h3.ts";
import type { Storage } from "../../../adapters/storage/storage.ts";
import { createByteSources } from "../../../adapters/tiles/byte-source.ts";
import { openRaster } from "../../../adapters/tiles/open-raster.ts";
import type { RasterFile } from "../../../adapters/tiles/raster-file.ts";
import { frozenCombination } from "../../../core/h3/combination.ts";
import type { H3Computation } from "../../../core/h3/columns.ts";
import { h3Configuration } from "../../../core/h3/configuration.ts";
import { h3VectorConfiguration } from "../../../core/h3/vector-configuration.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { isOwnName } from "./new-run.ts";

export type OpenRun = Omit<H3RunRow, "kind" | "configuration"> & H3Computation;

export async function requireRun(context: HandlerContext, runId: string): Promise<OpenRun> {
  const database = requireDatabase(context);
  const found = await findH3Run(database, runId);
  const owner = await ownerOfJob(database, context.job_id);
  if (found === undefined || !isOwnName(found.raster, owner)) {
    throw new PermanentError(`There is no computation "${runId}": h3_discover_raster records it.`, {
      code: "RUN_NOT_FOUND",
    });
  }
  const { kind, configuration } = found;
  switch (kind) {
    case "raster":
      return { ...found, kind, configuration: h3Configuration.parse(configuration) };
    case "vector":
      return { ...found, kind, configuration: h3VectorConfiguration.parse(configuration) };
    case "combined":
      return { ...found, kind, configuration: frozenCombination.parse(configuration) };
  }
}

export async function openStored(
  storage: Storage,
  path: string,
  wkt2: string,
): Promise<RasterFile> {
  const found = await storage.head(path);
  if (found === undefined) {
    throw new PermanentError(`"${path}" is not in storage any more.`, { code: "SOURCE_NOT_FOUND" });
  }
  const sources = createByteSources(storage);
  return openRaster(sources(path, path, found.bytes), { key: path, wkt2 });
}
