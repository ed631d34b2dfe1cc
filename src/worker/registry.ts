/**
 * The function of each handler in the catalogue (core/handlers.ts). A file is named after the
 * handlers in it, without the prefix of their area: `raster_reproject` is in
 * raster/create-cog-reproject.ts. Handlers without a prefix, such as `echo`, are in testing.ts.
 */
import { handlerCatalogue } from "../core/handlers/index.ts";
import type { Handler, HandlerName } from "./define-handler.ts";

/**
 * A handler's file is loaded with its first task, so that a worker starts without GDAL's and zip's
 * code.
 */
export const loaders: Readonly<Record<HandlerName, () => Promise<Handler>>> = {
  "raster.blob_to_mount": async () =>
    (await import("./handlers/raster/blob-to-mount.ts")).blobToMount,
  "raster.check_homogeneity": async () =>
    (await import("./handlers/raster/validate-check-homogeneity.ts")).checkHomogeneity,
  raster_clip: async () => (await import("./handlers/raster/clip.ts")).clip,
  "raster.create_cog": async () =>
    (await import("./handlers/raster/create-cog-reproject.ts")).createCog,
  "raster.generate_tiling_scheme": async () =>
    (await import("./handlers/raster/generate-tiling-scheme.ts")).generateTilingScheme,
  raster_mosaic: async () => (await import("./handlers/raster/mosaic.ts")).mosaic,
  "raster.process_tile": async () =>
    (await import("./handlers/raster/process-tile.ts")).processTile,
  "raster.process_tile_batch": async () =>
    (await import("./handlers/raster/process-tile.ts")).processTileBatch,
  raster_reproject: async () =>
    (await import("./handlers/raster/create-cog-reproject.ts")).reproject,
  "raster.validate": async () =>
    (await import("./handlers/raster/validate-check-homogeneity.ts")).validate,

  "raster.stac_ensure_collection": async () =>
    (await import("./handlers/stac/ensure-register.ts")).ensureCollection,
  "raster.stac_register_item": async () =>
    (await import("./handlers/stac/ensure-register.ts")).registerItem,
  "raster.stac_register_items": async () =>
    (await import("./handlers/stac/ensure-register.ts")).registerItems,
  "stac.delete_files": async () =>
    (await import("./handlers/stac/find-delete-drop.ts")).deleteFiles,
  "stac.delete_item": async () => (await import("./handlers/stac/find-delete-drop.ts")).deleteItem,
  "stac.detect_orphans": async () =>
    (await import("./handlers/stac/detect-orphans.ts")).detectOrphans,
  "stac.drop_tables": async () => (await import("./handlers/stac/find-delete-drop.ts")).dropTables,
  "stac.find_item": async () => (await import("./handlers/stac/find-delete-drop.ts")).findItem,
  "stac.list_items": async () => (await import("./handlers/stac/list-items-rasters.ts")).listItems,
  "stac.list_rasters": async () =>
    (await import("./handlers/stac/list-items-rasters.ts")).listRasters,
  "stac.rebuild_items": async () =>
    (await import("./handlers/stac/rebuild-repair.ts")).rebuildItems,
  "stac.repair_items": async () => (await import("./handlers/stac/rebuild-repair.ts")).repairItems,

  vector_create_stac: async () =>
    (await import("./handlers/vector/create-stac.ts")).createVectorStac,
  vector_dissolve: async () =>
    (await import("./handlers/vector/simplify-dissolve.ts")).dissolveVector,
  vector_prepare: async () => (await import("./handlers/vector/prepare.ts")).prepareVector,
  vector_publish: async () => (await import("./handlers/vector/upload-publish.ts")).publishVector,
  vector_simplify: async () =>
    (await import("./handlers/vector/simplify-dissolve.ts")).simplifyVector,
  vector_upload_chunk: async () =>
    (await import("./handlers/vector/upload-publish.ts")).uploadChunk,

  "export.copy_external": async () => (await import("./handlers/export.ts")).copyExternal,
  "export.remove_external": async () => (await import("./handlers/export.ts")).removeExternal,

  chunk_processor: async () => (await import("./handlers/testing.ts")).chunkProcessor,
  echo: async () => (await import("./handlers/testing.ts")).echo,
  fail: async () => (await import("./handlers/testing.ts")).fail,
  flaky_echo: async () => (await import("./handlers/testing.ts")).flakyEcho,
  hello_world: async () => (await import("./handlers/testing.ts")).helloWorld,
  multi_phase: async () => (await import("./handlers/testing.ts")).multiPhase,
  probe: async () => (await import("./handlers/testing.ts")).probe,
  size_check: async () => (await import("./handlers/testing.ts")).sizeCheck,
  sleep: async () => (await import("./handlers/testing.ts")).sleep,
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
