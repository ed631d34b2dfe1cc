import { z } from "zod";
import { assetId } from "../../model/asset.ts";
import { defineContract } from "../contract.ts";
import { integer } from "../schemas.ts";

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
    z: integer(0, 30),
    x: integer(0, 2 ** 30),
    y: z.string().regex(/^\d{1,10}(?:\.(?:png|webp|jpg|jpeg|mvt|pbf))?$/, "must be such as 5.png"),
  }),
  query: z
    .looseObject({ preview: z.literal("true").optional() })
    .describe("version, preview, and how a raster is drawn, as at /tiles/{asset_id}"),
  response: z.unknown(),
  media: "application/octet-stream",
  errors: ["BAD_REQUEST", "ASSET_NOT_FOUND", "LAYER_NOT_FOUND", "FORBIDDEN", "UNAVAILABLE"],
});

export const partnerTileContracts = [assetsTile] as const;
