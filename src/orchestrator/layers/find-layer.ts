import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { findAsset, readVersions } from "../../adapters/postgres/queries/asset-rows.ts";
import { findItem } from "../../adapters/postgres/queries/catalogue-items.ts";
import { findLayerMetadata } from "../../adapters/postgres/queries/layer-metadata.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import type { LayerMetadata } from "../../core/api/metadata.ts";
import type { StacItem } from "../../core/catalogue/stac.ts";
import type { Viewer, WantedVersion } from "../../core/domain/served-version.ts";
import { previewedVersion, seesAll, servedVersion } from "../../core/domain/served-version.ts";
import { Problem } from "../../core/errors.ts";
import type { Bounds, Layer } from "../../core/serving/layer.ts";
import { layerOfItem } from "../../core/serving/layer-of-item.ts";
import { layerStyle } from "../../core/serving/style.ts";

export interface Wanted {
  readonly asset_id: string;
  readonly version: WantedVersion;
  /** A curator looks before deciding. */
  readonly preview: boolean;
}

/**
 * What is served at an asset's address to this viewer, now. Nothing of the decision is kept: an
 * approval that was withdrawn a moment ago is no longer one.
 */
export async function resolveVersion(
  db: Queryable,
  { asset_id, version, preview }: Wanted,
  viewer: Viewer,
): Promise<AssetVersion> {
  const [asset, versions] = [await findAsset(db, asset_id), await readVersions(db, asset_id)];
  const found = preview
    ? previewedVersion(versions, version, viewer)
    : servedVersion(asset, versions, version, viewer);
  if (found instanceof Problem) throw found;
  return found;
}

export async function resolveItem(
  db: Queryable,
  version: AssetVersion,
): Promise<StacItem | undefined> {
  const { stac_collection_id, stac_item_id } = version;
  if (stac_collection_id === null || stac_item_id === null) return undefined;
  return findItem(db, seesAll, stac_collection_id, stac_item_id);
}

export async function resolveLayer(db: Queryable, wanted: Wanted, viewer: Viewer): Promise<Layer> {
  const version = await resolveVersion(db, wanted, viewer);
  const layer = layerOf(version, layerOfItem(await resolveItem(db, version)));
  if (layer === undefined) {
    throw new Problem("LAYER_NOT_FOUND", "This version made nothing that can be shown.");
  }
  return dress(layer, version, await findLayerMetadata(db, wanted.asset_id));
}

const world: Bounds = [-180, -85.06, 180, 85.06];

/**
 * The version's own outputs count: the catalogue's item may by now show another revision, and then
 * only its title and bounds are borrowed.
 */
function layerOf(version: AssetVersion, item: Layer | undefined): Layer | undefined {
  const { blob_path, table_name, version_label } = version;
  const { title = version_label, bounds = world, style = null } = item ?? {};
  const common = { title, bounds, style, version_tag: "" };
  if (table_name !== null) {
    if (item?.kind === "vector" && item.table === table_name) return item;
    return { kind: "vector", table: table_name, ...common };
  }
  if (blob_path === null) return item;
  if (item?.kind === "raster" && item.data_path === blob_path) return item;
  // Another revision of the same data lies in the same system.
  const wkt2 = item?.kind === "raster" ? item.wkt2 : null;
  return { kind: "raster", path: blob_path, data_path: blob_path, wkt2: wkt2 ?? null, ...common };
}

/** As its metadata says, and named so that every change is a new picture. */
function dress(layer: Layer, version: AssetVersion, metadata: LayerMetadata | undefined): Layer {
  const { asset_id, version_ordinal, served_revision } = version;
  const style = layerStyle.safeParse(metadata?.style);
  return {
    ...layer,
    title: metadata?.display_name ?? layer.title,
    style: style.success ? style.data : layer.style,
    version_tag: [
      ...[asset_id, version_ordinal, served_revision, layer.version_tag],
      metadata?.row_version ?? 0,
    ].join("/"),
  };
}
