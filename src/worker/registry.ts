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
  stats_zonal: async () => (await import("./handlers/raster/stats-zonal.ts")).statsZonal,
  raster_reproject: async () =>
    (await import("./handlers/raster/create-cog-reproject.ts")).reproject,
  "raster.validate": async () =>
    (await import("./handlers/raster/validate-check-homogeneity.ts")).validate,

  "raster.stac_ensure_collection": async () =>
    (await import("./handlers/stac/ensure-register.ts")).ensureCollection,
  "raster.stac_register": async () => (await import("./handlers/stac/ensure-register.ts")).register,
  "raster.stac_register_item": async () =>
    (await import("./handlers/stac/ensure-register.ts")).registerItem,
  "raster.stac_register_items": async () =>
    (await import("./handlers/stac/ensure-register.ts")).registerItems,
  extract_stac_metadata: async () =>
    (await import("./handlers/stac/extract-catalog.ts")).extractMetadata,
  register_silver_blobs: async () =>
    (await import("./handlers/stac/register-blobs.ts")).registerBlobs,
  stac_catalog_container: async () =>
    (await import("./handlers/stac/extract-catalog.ts")).catalogContainer,
  "stac.register_reference": async () =>
    (await import("./handlers/stac/register-reference.ts")).registerReference,
  "stac.delete_files": async () =>
    (await import("./handlers/stac/find-delete-drop.ts")).deleteFiles,
  "stac.delete_item": async () => (await import("./handlers/stac/find-delete-drop.ts")).deleteItem,
  "stac.delete_version": async () =>
    (await import("./handlers/stac/find-delete-drop.ts")).deleteVersion,
  "stac.detect_orphans": async () =>
    (await import("./handlers/stac/detect-orphans.ts")).detectOrphans,
  "stac.drop_tables": async () => (await import("./handlers/stac/find-delete-drop.ts")).dropTables,
  "stac.find_item": async () => (await import("./handlers/stac/find-delete-drop.ts")).findItem,
  "stac.find_version": async () =>
    (await import("./handlers/stac/find-delete-drop.ts")).findVersion,
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
  vector_export: async () => (await import("./handlers/vector/export-layer.ts")).exportVector,
  vector_prepare: async () => (await import("./handlers/vector/prepare.ts")).prepareVector,
  vector_publish: async () => (await import("./handlers/vector/upload-publish.ts")).publishVector,
  vector_simplify: async () =>
    (await import("./handlers/vector/simplify-dissolve.ts")).simplifyVector,
  vector_upload_chunk: async () =>
    (await import("./handlers/vector/upload-publish.ts")).uploadChunk,

  h3_connectivity: async () => (await import("./handlers/h3/connectivity.ts")).connectivity,
  h3_discover_combination: async () =>
    (await import("./handlers/h3/discover-combination.ts")).discoverCombination,
  h3_discover_raster: async () => (await import("./handlers/h3/discover-raster.ts")).discoverRaster,
  h3_discover_vector: async () => (await import("./handlers/h3/discover-vector.ts")).discoverVector,
  h3_export_dataset: async () => (await import("./handlers/h3/export-dataset.ts")).exportDataset,
  h3_finalize: async () => (await import("./handlers/h3/finalize.ts")).finalizeRuns,
  h3_register_dataset: async () =>
    (await import("./handlers/h3/register-dataset.ts")).registerDataset,
  h3_vector_stats: async () => (await import("./handlers/h3/vector-stats.ts")).vectorStats,
  h3_weighted_aggregation: async () =>
    (await import("./handlers/h3/weighted-aggregation.ts")).weightedAggregation,
  h3_zonal_stats: async () => (await import("./handlers/h3/zonal-stats.ts")).zonalStats,

  fathom_band_stack: async () => (await import("./handlers/fathom/band-stack.ts")).bandStack,
  fathom_grid_inventory: async () =>
    (await import("./handlers/fathom/tile-grid-inventory.ts")).gridInventory,
  fathom_spatial_merge: async () =>
    (await import("./handlers/fathom/spatial-merge.ts")).spatialMerge,
  fathom_stac_register: async () =>
    (await import("./handlers/fathom/stac-register.ts")).stacRegister,
  fathom_tile_inventory: async () =>
    (await import("./handlers/fathom/tile-grid-inventory.ts")).tileInventory,

  "export.build_package": async () =>
    (await import("./handlers/export/build-package.ts")).buildPackage,
  "export.copy_external": async () =>
    (await import("./handlers/export/copy-remove.ts")).copyExternal,
  "export.remove_external": async () =>
    (await import("./handlers/export/copy-remove.ts")).removeExternal,
  "export.write_layer": async () => (await import("./handlers/export/write-layer.ts")).writeLayer,

  approve_dataset: async () => (await import("./handlers/platform/review.ts")).approveDataset,
  finalize: async () => (await import("./handlers/platform/finalize.ts")).finalize,
  job_health_check: async () => (await import("./handlers/platform/watch.ts")).jobHealthCheck,
  reject_dataset: async () => (await import("./handlers/platform/review.ts")).rejectDataset,
  task_watchdog: async () => (await import("./handlers/platform/watch.ts")).taskWatchdog,
  trigger_approval: async () => (await import("./handlers/platform/review.ts")).triggerApproval,

  inspect_file: async () => (await import("./handlers/files/inspect-file.ts")).inspectFile,

  aggregate_results: async () => (await import("./handlers/stages.ts")).aggregateResults,
  hello_world_greeting: async () => (await import("./handlers/stages.ts")).greeting,
  hello_world_reply: async () => (await import("./handlers/stages.ts")).reply,
  list_container_files: async () => (await import("./handlers/stages.ts")).listFiles,
  process_file: async () => (await import("./handlers/stages.ts")).processFile,
  update_catalog: async () => (await import("./handlers/stages.ts")).updateCatalog,

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

/** By every name in the catalogue: a message may have been written with an alias. */
export const handlers: ReadonlyMap<string, Handler> = new Map(
  [...handlerCatalogue].flatMap(([name, contract]) => {
    const load = Object.hasOwn(loaders, contract.name)
      ? loaders[contract.name as HandlerName]
      : undefined;
    return load === undefined ? [] : [[name, lazy(contract, load)]];
  }),
);

/** The handlers that need no database; the others write to the catalogue or to tables of layers. */
export const withoutDatabase: ReadonlyMap<string, Handler> = new Map(
  [...handlers].filter(
    ([name]) => !/^(?:stac\.|raster\.stac_|vector_|h3_|fathom_|export\.)/.test(name),
  ),
);

function lazy(contract: Handler["contract"], load: () => Promise<Handler>): Handler {
  let loaded: Handler | undefined;
  const loadAndRun: Handler["run"] = async (params, context) => {
    loaded = await load();
    return loaded.run(params, context);
  };
  return {
    contract,
    // Not async: most calls find the handler loaded.
    run: (params, context) =>
      loaded === undefined ? loadAndRun(params, context) : loaded.run(params, context),
  };
}
