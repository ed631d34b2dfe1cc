import { handlerCatalogue } from "../core/handlers/index.ts";
import type { Handler, HandlerName } from "./define-handler.ts";

/**
 * Every handler of the catalogue, loaded with its first task: a worker that echoes must not load
 * what reads zip archives and rasters before it can start.
 */
export const loaders: Readonly<Record<HandlerName, () => Promise<Handler>>> = {
  "raster.blob_to_mount": async () =>
    (await import("./handlers/raster/blob-to-mount.ts")).blobToMount,
  "raster.check_homogeneity": async () =>
    (await import("./handlers/raster/check-homogeneity.ts")).checkHomogeneity,
  raster_clip: async () => (await import("./handlers/raster/clip.ts")).clip,
  "raster.create_cog": async () => (await import("./handlers/raster/create-cog.ts")).createCog,
  "raster.generate_tiling_scheme": async () =>
    (await import("./handlers/raster/generate-tiling-scheme.ts")).generateTilingScheme,
  raster_mosaic: async () => (await import("./handlers/raster/mosaic.ts")).mosaic,
  "raster.process_tile": async () =>
    (await import("./handlers/raster/process-tile.ts")).processTile,
  "raster.process_tile_batch": async () =>
    (await import("./handlers/raster/process-tile-batch.ts")).processTileBatch,
  raster_reproject: async () => (await import("./handlers/raster/reproject.ts")).reproject,
  "raster.validate": async () => (await import("./handlers/raster/validate.ts")).validate,
  chunk_processor: async () =>
    (await import("./handlers/testing/chunk-processor.ts")).chunkProcessor,
  "export.copy_external": async () =>
    (await import("./handlers/export/copy-external.ts")).copyExternal,
  "export.remove_external": async () =>
    (await import("./handlers/export/remove-external.ts")).removeExternal,
  echo: async () => (await import("./handlers/testing/echo.ts")).echo,
  fail: async () => (await import("./handlers/testing/fail.ts")).fail,
  flaky_echo: async () => (await import("./handlers/testing/flaky-echo.ts")).flakyEcho,
  hello_world: async () => (await import("./handlers/testing/hello-world.ts")).helloWorld,
  multi_phase: async () => (await import("./handlers/testing/multi-phase.ts")).multiPhase,
  probe: async () => (await import("./handlers/testing/probe.ts")).probe,
  size_check: async () => (await import("./handlers/testing/size-check.ts")).sizeCheck,
  sleep: async () => (await import("./handlers/testing/sleep.ts")).sleep,
  vector_create_stac: async () =>
    (await import("./handlers/vector/create-stac.ts")).createVectorStac,
  vector_dissolve: async () => (await import("./handlers/vector/dissolve.ts")).dissolveVector,
  vector_prepare: async () => (await import("./handlers/vector/prepare.ts")).prepareVector,
  vector_publish: async () => (await import("./handlers/vector/publish.ts")).publishVector,
  vector_simplify: async () => (await import("./handlers/vector/simplify.ts")).simplifyVector,
  vector_upload_chunk: async () => (await import("./handlers/vector/upload-chunk.ts")).uploadChunk,
  "stac.delete_files": async () => (await import("./handlers/stac/delete-files.ts")).deleteFiles,
  "stac.delete_item": async () => (await import("./handlers/stac/delete-item.ts")).deleteItem,
  "stac.detect_orphans": async () =>
    (await import("./handlers/stac/detect-orphans.ts")).detectOrphans,
  "stac.drop_tables": async () => (await import("./handlers/stac/drop-tables.ts")).dropTables,
  "raster.stac_ensure_collection": async () =>
    (await import("./handlers/stac/ensure-collection.ts")).ensureCollection,
  "stac.find_item": async () => (await import("./handlers/stac/find-item.ts")).findItem,
  "stac.list_items": async () => (await import("./handlers/stac/list-items.ts")).listItems,
  "stac.list_rasters": async () => (await import("./handlers/stac/list-rasters.ts")).listRasters,
  "stac.rebuild_items": async () => (await import("./handlers/stac/rebuild-items.ts")).rebuildItems,
  "raster.stac_register_item": async () =>
    (await import("./handlers/stac/register-item.ts")).registerItem,
  "raster.stac_register_items": async () =>
    (await import("./handlers/stac/register-items.ts")).registerItems,
  "stac.repair_items": async () => (await import("./handlers/stac/repair-items.ts")).repairItems,
};

export const handlers: ReadonlyMap<string, Handler> = new Map(
  [...handlerCatalogue.values()].flatMap((contract) => {
    const load = Object.hasOwn(loaders, contract.name)
      ? loaders[contract.name as HandlerName]
      : undefined;
    return load === undefined ? [] : [[contract.name, lazy(contract, load)]];
  }),
);

function lazy(contract: Handler["contract"], load: () => Promise<Handler>): Handler {
  let loaded: Handler | undefined;
  return {
    contract,
    run: async (params, context) => {
      loaded ??= await load();
      return loaded.run(params, context);
    },
  };
}
