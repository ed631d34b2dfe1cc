import type { AssetSummary, AssetVersion, ServiceUrls } from "../api/asset-schemas.ts";

/**
 * Lists the addresses that are served now: of the latest version and, with all-versions, of each
 * approved one.
 */
export function servedUrls(asset: AssetSummary, versions: readonly AssetVersion[]): ServiceUrls[] {
  if (asset.deleted_at !== null || asset.clearance_state === "uncleared") return [];
  const approved = versions.filter(
    (each) => each.approval_state === "approved" && each.deleted_at === null && hasLayer(each),
  );
  const latest = approved.find(
    ({ version_ordinal }) => version_ordinal === asset.latest_approved_version_ordinal,
  );
  return [
    ...(latest === undefined ? [] : [urls(latest, "latest", "")]),
    ...(asset.exposure === "all-versions"
      ? approved.map((each) => urls(each, String(each.version_ordinal), ""))
      : []),
  ];
}

/** Lists the preview addresses of the versions that wait for a curator. */
export function previewUrls(versions: readonly AssetVersion[]): ServiceUrls[] {
  return versions
    .filter(
      (each) => each.approval_state !== "approved" && each.deleted_at === null && hasLayer(each),
    )
    .map((each) => urls(each, String(each.version_ordinal), "&preview=true"));
}

export function layerType({ table_name }: AssetVersion): "raster" | "vector" {
  return table_name === null ? "raster" : "vector";
}

/** A version with tiles, or with many items, names its collection and no file. */
export function hasLayer(version: AssetVersion): boolean {
  const { served_revision, blob_path, table_name, stac_collection_id } = version;
  return (
    served_revision !== null &&
    (blob_path !== null || table_name !== null || stac_collection_id !== null)
  );
}

function urls(version: AssetVersion, name: string, more: string): ServiceUrls {
  const { asset_id, stac_collection_id, stac_item_id } = version;
  const type = layerType(version);
  const query = `?version=${name}${more}`;
  const tiles = `/tiles/${asset_id}`;
  const extension = type === "vector" ? ".mvt" : "";
  return {
    version: name,
    layer_type: type,
    tiles: `${tiles}/tiles/WebMercatorQuad/{z}/{x}/{y}${extension}${query}`,
    tilejson: `${tiles}/WebMercatorQuad/tilejson.json${query}`,
    map: `${tiles}/map${query}`,
    features: type === "vector" ? `/features/${asset_id}/items${query}` : null,
    stac_item:
      stac_collection_id === null || stac_item_id === null ? null : `${tiles}/item${query}`,
  };
}
