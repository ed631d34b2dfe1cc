import { z } from "zod";
import { assetId } from "../model/asset.ts";
import { renderQuery } from "../serving/render-options.ts";
import { defineContract } from "./contract.ts";
import { featureContracts } from "./features.ts";
import { object } from "./schemas.ts";
import { layerContracts } from "./tiles.ts";

/** The version to serve. Whether the caller may see it is decided for every request. */
export const wantedVersion = {
  version: z
    .string()
    .regex(/^(latest|\d{1,9})$/, "must be latest or an ordinal")
    .default("latest")
    .transform((text) => (text === "latest" ? text : Number(text)))
    .describe("latest, or the ordinal of a version"),
  preview: z
    .literal("true")
    .optional()
    .describe("for curators: also versions that are not approved or not cleared"),
};

const shape = {
  params: { asset_id: assetId },
  query: wantedVersion,
  // Public data need no token; the handler checks the rights for everything else.
  access: "public",
} as const;

const errors = ["BAD_REQUEST", "UNAUTHENTICATED", "FORBIDDEN", "LAYER_NOT_FOUND"] as const;

const getAssetLayer = defineContract({
  id: "getAssetLayer",
  method: "GET",
  path: "/tiles/{asset_id}",
  access: "public",
  summary: "The layer of an asset's version as TileJSON: its address for clients.",
  params: z.strictObject(shape.params),
  query: z.strictObject({ ...shape.query, ...renderQuery }),
  response: z.looseObject({ tilejson: z.string() }),
  errors,
});

const getAssetItem = defineContract({
  id: "getAssetItem",
  method: "GET",
  path: "/tiles/{asset_id}/item",
  access: "public",
  summary: "The catalogue's item of an asset's version.",
  params: z.strictObject(shape.params),
  query: z.strictObject(shape.query),
  response: object,
  media: "application/geo+json",
  errors,
});

export const assetFeatureContracts = featureContracts("Asset", "/features/{asset_id}", shape);

export const assetLayerContracts = [
  getAssetLayer,
  getAssetItem,
  ...layerContracts("Asset", "/tiles/{asset_id}", shape),
] as const;
