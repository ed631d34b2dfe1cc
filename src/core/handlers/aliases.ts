/**
 * Other names of handlers: those by which the workflows of the existing platform know them. A
 * workflow is stored with the handler's own name, so nothing behind the compiler knows of aliases.
 */
export const handlerAliases: Readonly<Record<string, string>> = {
  raster_validate: "raster.validate",
  validate_raster: "raster.validate",
  create_cog: "raster.create_cog",
  raster_cog_docker: "raster.create_cog",
  raster_cog_functionapp: "raster.create_cog",
  "raster.process": "raster.create_cog",
  calculate_tiles: "raster.generate_tiling_scheme",
  create_cog_tile: "raster.process_tile",

  stac_register: "raster.stac_register",
  create_stac_raster: "raster.stac_register",
  create_stac_record: "raster.stac_register",
  list_raster_files: "stac.list_rasters",
  rebuild_stac: "stac.rebuild_items",
  repair_stac_items: "stac.repair_items",
  detect_orphan_blobs: "stac.detect_orphans",

  h3_inventory: "h3_discover_raster",
  h3_raster_zonal: "h3_zonal_stats",
  h3_point_aggregation: "h3_vector_stats",
  h3_line_aggregation: "h3_vector_stats",
  h3_polygon_aggregation: "h3_vector_stats",

  list_files: "list_container_files",
  promote_to_external: "export.copy_external",
};
