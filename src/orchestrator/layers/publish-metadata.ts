import type { Database } from "../../adapters/postgres/database.ts";
import { findAsset } from "../../adapters/postgres/queries/asset-rows.ts";
import { findLayerMetadata, isPublished } from "../../adapters/postgres/queries/layer-metadata.ts";
import { upsertItems } from "../../adapters/postgres/repositories/catalogue.ts";
import {
  removeFromCatalog,
  writeToCatalog,
} from "../../adapters/postgres/repositories/layer-metadata.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import type { StacItem } from "../../core/catalogue/stac.ts";
import {
  catalogLayer,
  projectToItem,
  withoutMetadata,
} from "../../core/domain/project-metadata.ts";
import { layerType, servedUrls } from "../../core/domain/service-urls.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { assetMissing, changeAsset } from "../assets/change-asset.ts";
import type { AssetDeps } from "../assets/deps.ts";
import type { AuditContext } from "../audit-context.ts";
import { findItemOfVersion } from "./find-layer.ts";
import { metadataMissing } from "./layer-metadata.ts";

/** Writes the latest approved version with its metadata into the layer catalogue and its STAC item. */
export async function publishMetadata(
  deps: AssetDeps,
  assetId: string,
  audit: AuditContext,
): Promise<JsonObject> {
  const metadata = await findLayerMetadata(deps.db, assetId);
  let published: AssetVersion | undefined;
  await changeAsset(deps, assetId, audit, ({ tx, asset, versions, record }) => {
    if (metadata === undefined) throw metadataMissing(assetId);
    const latest = versions.find(
      ({ version_ordinal }) => version_ordinal === asset.latest_approved_version_ordinal,
    );
    if (latest === undefined || asset.deleted_at !== null) {
      throw new Problem("TRANSITION_REFUSED", "Nothing to publish: no version is approved.");
    }
    published = latest;
    const { version_ordinal, stac_collection_id, stac_item_id } = latest;
    writeToCatalog(tx, {
      asset_id: assetId,
      version_ordinal,
      layer_type: layerType(latest),
      stac_collection_id,
      stac_item_id,
      published_by: audit.actor,
      layer: catalogLayer(latest, metadata, servedUrls(asset, versions)),
    });
    record("metadata_published", version_ordinal);
  });
  if (published === undefined || metadata === undefined) throw metadataMissing(assetId);
  const in_stac = await changeItem(deps.db, published, (item) => projectToItem(item, metadata));
  return { asset_id: assetId, version_ordinal: published.version_ordinal, in_stac };
}

export async function unpublishMetadata(
  deps: AssetDeps,
  assetId: string,
  audit: AuditContext,
): Promise<JsonObject> {
  let shown: readonly AssetVersion[] = [];
  await changeAsset(deps, assetId, audit, ({ tx, versions, record }) => {
    removeFromCatalog(tx, assetId);
    record("metadata_unpublished", undefined);
    shown = versions;
  });
  let items = 0;
  for (const version of shown) {
    if (await changeItem(deps.db, version, withoutMetadata)) items += 1;
  }
  return { asset_id: assetId, items };
}

/** Writes the entries of one asset in both catalogues again from its tables. */
export async function reindexAsset(
  deps: AssetDeps,
  assetId: string,
  audit: AuditContext,
): Promise<JsonObject> {
  if ((await findAsset(deps.db, assetId)) === undefined) throw assetMissing(assetId);
  return (await isPublished(deps.db, assetId))
    ? publishMetadata(deps, assetId, audit)
    : unpublishMetadata(deps, assetId, audit);
}

/** False: the version has no item in the catalogue. */
async function changeItem(
  db: Database,
  version: AssetVersion,
  change: (item: StacItem) => StacItem,
): Promise<boolean> {
  const item = await findItemOfVersion(db, version);
  if (item === undefined) return false;
  await upsertItems(db, item.collection, [change(item)]);
  return true;
}
