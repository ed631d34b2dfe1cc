/**
 * Where a parameter comes from that a workflow does not write: the existing platform hands the
 * file from task to task, so its workflows name it once or not at all.
 */
export interface ImpliedParameter {
  /** Names of a member in the output of an earlier task; the nearest task that has one counts. */
  readonly outputs?: readonly string[];
  /** As `outputs`, but only of the nodes directly before. */
  readonly before?: readonly string[];
  /** Names of an input, in the order in which they count. */
  readonly inputs?: readonly string[];
  /** Not implied beside one of these, where an earlier task gave it or the author wrote it. */
  readonly unless?: readonly string[];
  /** Null if nothing gives it. */
  readonly optional?: true;
}

const file: ImpliedParameter = {
  outputs: ["blob_path"],
  inputs: ["blob_path", "blob_name", "source_path"],
};
const container: ImpliedParameter = {
  inputs: ["container", "container_name"],
  unless: ["blob_path"],
  optional: true,
};
const collection: ImpliedParameter = { outputs: ["collection_id"], inputs: ["collection_id"] };
const ofFile = { blob_path: file, container };

/** By handler. `inputs`: a task without `params` takes all inputs of its job. */
export const impliedParameters: Readonly<
  Record<string, "inputs" | Readonly<Record<string, ImpliedParameter>>>
> = {
  echo: "inputs",
  "raster.validate": ofFile,
  "raster.create_cog": ofFile,
  "raster.blob_to_mount": ofFile,
  "raster.generate_tiling_scheme": ofFile,
  "raster.process_tile": ofFile,
  "raster.process_tile_batch": ofFile,
  raster_reproject: ofFile,
  raster_clip: ofFile,
  stats_zonal: ofFile,
  extract_stac_metadata: ofFile,
  "raster.stac_ensure_collection": { collection_id: collection },
  "raster.stac_register": {
    collection_id: collection,
    blob_path: { before: ["blob_path"], unless: ["tiles"], optional: true },
    source_path: { outputs: ["source_path"], optional: true },
    tiles: { before: ["results"], unless: ["blob_path"], optional: true },
  },
  finalize: { results: { before: [], optional: true } },
};
