import type { LayerMetadata } from "../../../core/api/metadata.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { Viewer } from "../../../core/domain/served-version.ts";
import type { Queryable } from "../queryable.ts";
import { servedTo } from "./catalogue-visibility.ts";
import { Conditions, contains, cut } from "./conditions.ts";
import { isoRow } from "./rows.ts";

export async function findLayerMetadata(
  db: Queryable,
  assetId: string,
): Promise<LayerMetadata | undefined> {
  const { rows } = await db.query(
    `SELECT asset_id, display_name, description, attribution, keywords, style, legend,
       field_metadata, min_zoom, max_zoom, thumbnail, row_version, updated_by, created_at,
       updated_at
     FROM dagapp.layer_metadata WHERE asset_id = $1`,
    [assetId],
  );
  return rows[0] && isoRow<LayerMetadata>(rows[0]);
}

export interface CatalogLayer {
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly layer_type: "raster" | "vector";
  readonly stac_collection_id: string | null;
  readonly stac_item_id: string | null;
  readonly layer: JsonObject;
  readonly published_by: string;
  readonly published_at: string;
}

/** Without the layers whose version is no longer served to the viewer. */
export async function listLayers(
  db: Queryable,
  viewer: Viewer,
  filter: { readonly search?: string | undefined },
  limit: number,
  after: string | undefined,
): Promise<{ layers: CatalogLayer[]; next: string | null }> {
  const where = new Conditions()
    .add("layer.asset_id > ?", after)
    .add("layer.layer::text ILIKE ?", filter.search && contains(filter.search));
  if (!viewer.curates) {
    where.always(`EXISTS (SELECT FROM dagapp.asset_versions AS version
      JOIN dagapp.geospatial_assets AS asset USING (asset_id)
      WHERE version.asset_id = layer.asset_id AND version.version_ordinal = layer.version_ordinal
        AND ${servedTo(viewer)})`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<{ asset_id: string }>(
    `SELECT asset_id, version_ordinal, layer_type, stac_collection_id, stac_item_id, layer.layer,
       published_by, published_at
     FROM dagapp.layer_catalog AS layer WHERE ${where.toString()} ORDER BY asset_id LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  return {
    layers: page.rows.map((row) => isoRow<CatalogLayer>(row)),
    next: page.last?.asset_id ?? null,
  };
}

export async function isPublished(db: Queryable, assetId: string): Promise<boolean> {
  const { rows } = await db.query(`SELECT FROM dagapp.layer_catalog WHERE asset_id = $1`, [
    assetId,
  ]);
  return rows.length > 0;
}
