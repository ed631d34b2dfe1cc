import type { Handler } from "./define-handler.ts";
import { deleteFiles } from "./handlers/stac/delete-files.ts";
import { deleteItem } from "./handlers/stac/delete-item.ts";
import { detectOrphans } from "./handlers/stac/detect-orphans.ts";
import { dropTables } from "./handlers/stac/drop-tables.ts";
import { ensureCollection } from "./handlers/stac/ensure-collection.ts";
import { findItem } from "./handlers/stac/find-item.ts";
import { listItems } from "./handlers/stac/list-items.ts";
import { listRasters } from "./handlers/stac/list-rasters.ts";
import { rebuildItems } from "./handlers/stac/rebuild-items.ts";
import { registerItem } from "./handlers/stac/register-item.ts";
import { registerItems } from "./handlers/stac/register-items.ts";
import { repairItems } from "./handlers/stac/repair-items.ts";
import { blobToMount } from "./handlers/raster/blob-to-mount.ts";
import { checkHomogeneity } from "./handlers/raster/check-homogeneity.ts";
import { clip } from "./handlers/raster/clip.ts";
import { createCog } from "./handlers/raster/create-cog.ts";
import { generateTilingScheme } from "./handlers/raster/generate-tiling-scheme.ts";
import { mosaic } from "./handlers/raster/mosaic.ts";
import { processTile } from "./handlers/raster/process-tile.ts";
import { processTileBatch } from "./handlers/raster/process-tile-batch.ts";
import { reproject } from "./handlers/raster/reproject.ts";
import { validate } from "./handlers/raster/validate.ts";
import { copyExternal } from "./handlers/export/copy-external.ts";
import { removeExternal } from "./handlers/export/remove-external.ts";
import { chunkProcessor } from "./handlers/testing/chunk-processor.ts";
import { echo } from "./handlers/testing/echo.ts";
import { fail } from "./handlers/testing/fail.ts";
import { flakyEcho } from "./handlers/testing/flaky-echo.ts";
import { helloWorld } from "./handlers/testing/hello-world.ts";
import { multiPhase } from "./handlers/testing/multi-phase.ts";
import { probe } from "./handlers/testing/probe.ts";
import { sizeCheck } from "./handlers/testing/size-check.ts";
import { sleep } from "./handlers/testing/sleep.ts";
import { createVectorStac } from "./handlers/vector/create-stac.ts";
import { dissolveVector } from "./handlers/vector/dissolve.ts";
import { prepareVector } from "./handlers/vector/prepare.ts";
import { publishVector } from "./handlers/vector/publish.ts";
import { simplifyVector } from "./handlers/vector/simplify.ts";
import { uploadChunk } from "./handlers/vector/upload-chunk.ts";

const implemented: readonly Handler[] = [
  blobToMount,
  checkHomogeneity,
  clip,
  createCog,
  generateTilingScheme,
  mosaic,
  processTile,
  processTileBatch,
  reproject,
  validate,
  chunkProcessor,
  copyExternal,
  removeExternal,
  echo,
  fail,
  flakyEcho,
  helloWorld,
  multiPhase,
  probe,
  sizeCheck,
  sleep,
  createVectorStac,
  dissolveVector,
  prepareVector,
  publishVector,
  simplifyVector,
  uploadChunk,
  deleteFiles,
  deleteItem,
  detectOrphans,
  dropTables,
  ensureCollection,
  findItem,
  listItems,
  listRasters,
  rebuildItems,
  registerItem,
  registerItems,
  repairItems,
];

export const handlers: ReadonlyMap<string, Handler> = new Map(
  implemented.map((handler) => [handler.contract.name, handler]),
);
