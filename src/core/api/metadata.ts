import { z } from "zod";
import { assetId } from "../model/asset.ts";
import { layerMetadataEdit, layerStyle } from "../serving/style.ts";
import { changeErrors, oneVersion } from "./asset-parts.ts";
import { assetVersion } from "./asset-schemas.ts";
import { defineContract } from "./contract.ts";
import { object, page, paging, timestamp } from "./schemas.ts";

const one = z.object({ asset_id: assetId });

const layerMetadata = z
  .object({
    asset_id: z.string(),
    ...layerMetadataEdit.shape,
    row_version: z.number().int().describe("the ETag; send it back in If-Match"),
    updated_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "LayerMetadata" });
export type LayerMetadata = z.infer<typeof layerMetadata>;

const getLayerMetadata = defineContract({
  id: "getLayerMetadata",
  method: "GET",
  path: "/api/v1/assets/{asset_id}/metadata",
  access: "read",
  summary: "How an asset is shown.",
  params: one,
  response: layerMetadata,
  errors: ["ASSET_NOT_FOUND", "METADATA_NOT_FOUND"],
});

const putLayerMetadata = defineContract({
  id: "putLayerMetadata",
  method: "PUT",
  path: "/api/v1/assets/{asset_id}/metadata",
  access: "curate",
  summary: "Set how an asset is shown, or replace it: then with If-Match.",
  params: one,
  bodyLimit: 256 * 1024,
  body: layerMetadataEdit,
  response: layerMetadata,
  also: { 201: "it is new" },
  errors: ["BAD_REQUEST", "ASSET_NOT_FOUND", "EDIT_CONFLICT", "EDIT_NEEDS_MATCH"],
});

const putVersionStyle = defineContract({
  id: "putVersionStyle",
  method: "PUT",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/style",
  access: "curate",
  summary: "Style a version before its approval, which makes this the style of the asset.",
  params: oneVersion,
  body: z.strictObject({ style: layerStyle.nullable() }),
  response: assetVersion,
  errors: [...changeErrors, "METADATA_NOT_FOUND"],
});

const deleteLayerMetadata = defineContract({
  id: "deleteLayerMetadata",
  method: "DELETE",
  path: "/api/v1/assets/{asset_id}/metadata",
  access: "curate",
  summary: "Delete how an asset is shown, and unpublish it.",
  params: one,
  response: z.object({ deleted: z.boolean() }).meta({ id: "Deleted" }),
  errors: ["ASSET_NOT_FOUND", "METADATA_NOT_FOUND", "EDIT_CONFLICT"],
});

const listLayers = defineContract({
  id: "listLayers",
  method: "GET",
  path: "/api/v1/layers",
  access: "read",
  summary: "Published layers, by asset.",
  query: z.strictObject({ search: z.string().min(1).max(128).optional(), ...paging }),
  response: page(
    z
      .object({
        asset_id: z.string(),
        version_ordinal: z.number().int(),
        layer_type: z.enum(["raster", "vector"]),
        stac_collection_id: z.string().nullable(),
        stac_item_id: z.string().nullable(),
        layer: object,
        published_by: z.string(),
        published_at: timestamp,
      })
      .meta({ id: "CatalogLayer" }),
  ),
  errors: ["BAD_REQUEST"],
});

export const metadataContracts = [
  getLayerMetadata,
  putLayerMetadata,
  putVersionStyle,
  deleteLayerMetadata,
  listLayers,
] as const;
