import { boundsOfVersion } from "../../adapters/postgres/queries/catalogue-collections.ts";
import { searchItems } from "../../adapters/postgres/queries/catalogue-items.ts";
import { findLayerMetadata } from "../../adapters/postgres/queries/layer-metadata.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import type { LayerMetadata } from "../../core/api/metadata.ts";
import type { StacItem } from "../../core/catalogue/stac.ts";
import type { Viewer } from "../../core/domain/served-version.ts";
import { seesAll } from "../../core/domain/served-version.ts";
import { Problem } from "../../core/errors.ts";
import type { Box } from "../../core/geometry/boxes.ts";
import type { Bounds, Layer } from "../../core/serving/layer.ts";
import { layerOfItem } from "../../core/serving/layer-of-item.ts";
import { layerStyle } from "../../core/serving/style.ts";
import type { WantedLayer } from "./check-clearance.ts";
import { makeMosaic } from "./make-mosaic.ts";
import { findServedVersion } from "./check-clearance.ts";

/** The layer at the address of an asset. A tile passes the box that it covers. */
export async function findAssetLayer(
  db: Queryable,
  wanted: WantedLayer,
  viewer: Viewer,
  box?: Box,
): Promise<Layer> {
  const version = await findServedVersion(db, wanted, viewer);
  const layer =
    layerOfVersion(version, layerOfItem(await findItemOfVersion(db, version))) ??
    (await findManyOfVersion(db, version, box));
  if (layer === undefined) {
    throw new Problem("LAYER_NOT_FOUND", "This version made nothing that can be shown.");
  }
  return applyMetadata(layer, version, await findLayerMetadata(db, wanted.asset_id));
}

/** Without a check of the viewer: `findServedVersion` has checked the version. */
export async function findItemOfVersion(
  db: Queryable,
  version: AssetVersion,
): Promise<StacItem | undefined> {
  const { stac_collection_id, stac_item_id } = version;
  if (stac_collection_id === null || stac_item_id === null) return undefined;
  const filter = { collections: [stac_collection_id], ids: [stac_item_id], version };
  const { items } = await searchItems(db, seesAll, { filter, sort: [], limit: 1 });
  return items[0]?.item;
}

/** The rasters of a version with many items, as one layer. `findServedVersion` has checked it. */
async function findManyOfVersion(
  db: Queryable,
  version: AssetVersion,
  box: Box | undefined,
): Promise<Layer | undefined> {
  if (version.stac_collection_id === null || version.stac_item_id !== null) return undefined;
  const layer = await makeMosaic(db, seesAll, { version }, version.version_label, box);
  if (layer === undefined || box !== undefined) return layer;
  return { ...layer, bounds: (await boundsOfVersion(db, version)) ?? world };
}

const world: Bounds = [-180, -85.06, 180, 85.06];

/**
 * The outputs of the version decide: the item in the catalogue may by now be of another revision, and
 * then only its title and bounds are used.
 */
function layerOfVersion(version: AssetVersion, item: Layer | undefined): Layer | undefined {
  const { blob_path, table_name, version_label } = version;
  const { title = version_label, bounds = world, style = null } = item ?? {};
  const common = { title, bounds, style, version_tag: "" };
  if (table_name !== null) {
    if (item?.kind === "vector" && item.table === table_name) return item;
    return { kind: "vector", table: table_name, ...common };
  }
  if (blob_path === null) return item;
  if (item?.kind === "raster" && item.data_path === blob_path) return item;
  // Another revision of the same data has the same coordinate system.
  const { wkt2 = null, datum_shift = null } = item?.kind === "raster" ? item : {};
  const place = { wkt2, datum_shift };
  return { kind: "raster", path: blob_path, data_path: blob_path, ...place, ...common };
}

/** Title and style of the metadata win; the tag changes with every change that a picture may show. */
function applyMetadata(
  layer: Layer,
  version: AssetVersion,
  metadata: LayerMetadata | undefined,
): Layer {
  const { asset_id, version_ordinal, served_revision } = version;
  const style = layerStyle.safeParse(version.style ?? metadata?.style);
  const tag = [
    asset_id,
    version_ordinal,
    served_revision,
    layer.version_tag,
    metadata?.row_version ?? 0,
    ...(version.style === null ? [] : [JSON.stringify(version.style)]),
  ];
  return {
    ...layer,
    title: metadata?.display_name ?? layer.title,
    style: style.success ? style.data : layer.style,
    version_tag: tag.join("/"),
  };
}
