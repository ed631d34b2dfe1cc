import { z } from "zod";
import { assetId } from "../../model/asset.ts";
import { defineContract } from "../contract.ts";
import { tileParams } from "../layer-shape.ts";

/**
 * Tiles for people of a partner, with the partner's key: the layers that are served to every token,
 * and the versions that wait for the partner's curators. Other viewers use the platform's own
 * addresses.
 */
const assetsTile = defineContract({
  id: "assetsTile",
  method: "GET",
  path: "/api/assets/{asset_id}/tiles/{z}/{x}/{y}",
  access: "read",
  summary:
    "A tile of the web's usual grid of one of your assets; for curators also versions that wait for review.",
  params: z.object({
    asset_id: assetId,
    ...tileParams,
  }),
  query: z
    .looseObject({ preview: z.literal("true").optional() })
    .describe("version, preview, and how a raster is drawn, as at /tiles/{asset_id}"),
  response: z.unknown(),
  media: "application/octet-stream",
  types: ["*/*"],
  errors: ["BAD_REQUEST", "ASSET_NOT_FOUND", "LAYER_NOT_FOUND", "FORBIDDEN", "UNAVAILABLE"],
});

export const partnerTileContracts = [assetsTile] as const;
