import type { LayerMetadataEdit } from "../../../core/serving/style.ts";
import type { CatalogLayer } from "../queries/layer-metadata.ts";
import type { Transaction } from "../queryable.ts";

/** The caller must hold the lock of the asset, so that the row cannot change after it was read. */
export function writeLayerMetadata(
  tx: Transaction,
  assetId: string,
  edit: LayerMetadataEdit,
  by: string,
): void {
  tx.send(
    `INSERT INTO dagapp.layer_metadata (asset_id, display_name, description, attribution,
       keywords, style, legend, field_metadata, min_zoom, max_zoom, thumbnail, updated_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (asset_id) DO UPDATE SET display_name = $2, description = $3, attribution = $4,
       keywords = $5, style = $6, legend = $7, field_metadata = $8, min_zoom = $9, max_zoom = $10,
       thumbnail = $11, updated_by = $12, row_version = layer_metadata.row_version + 1,
       updated_at = now()`,
    [
      assetId,
      edit.display_name,
      edit.description,
      edit.attribution,
      edit.keywords,
      toJson(edit.style),
      toJson(edit.legend),
      toJson(edit.field_metadata),
      edit.min_zoom,
      edit.max_zoom,
      edit.thumbnail,
      by,
    ],
  );
}

export function deleteLayerMetadata(tx: Transaction, assetId: string): void {
  removeFromCatalog(tx, assetId);
  tx.send(`UPDATE dagapp.asset_versions SET style = NULL WHERE asset_id = $1`, [assetId]);
  tx.send(`DELETE FROM dagapp.layer_metadata WHERE asset_id = $1`, [assetId]);
}

export function writeToCatalog(tx: Transaction, layer: Omit<CatalogLayer, "published_at">): void {
  tx.send(
    `INSERT INTO dagapp.layer_catalog (asset_id, version_ordinal, layer_type, stac_collection_id,
       stac_item_id, layer, published_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (asset_id) DO UPDATE SET version_ordinal = $2, layer_type = $3,
       stac_collection_id = $4, stac_item_id = $5, layer = $6, published_by = $7,
       published_at = now()`,
    [
      layer.asset_id,
      layer.version_ordinal,
      layer.layer_type,
      layer.stac_collection_id,
      layer.stac_item_id,
      JSON.stringify(layer.layer),
      layer.published_by,
    ],
  );
}

export function removeFromCatalog(tx: Transaction, assetId: string): void {
  tx.send(`DELETE FROM dagapp.layer_catalog WHERE asset_id = $1`, [assetId]);
}

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
