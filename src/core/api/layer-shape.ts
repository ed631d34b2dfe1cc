/** What the addresses of rasters and of features have in common, wherever they hang. */
import { z } from "zod";
import { mostZoom } from "../serving/web-mercator.ts";
import type { Access } from "./contract.ts";
import { integer } from "./schemas.ts";

/** What names a layer, what every address of it may be asked, and who may call. */
export interface LayerShape<Params extends z.ZodRawShape, Query extends z.ZodRawShape> {
  readonly params: Params;
  readonly query: Query;
  readonly access: Access;
}

export const layerErrors = [
  ...(["BAD_REQUEST", "UNAUTHENTICATED", "NOT_FOUND", "ITEM_NOT_FOUND", "UNAVAILABLE"] as const),
] as const;

/** The row, and behind a dot the format. */
const rowFile = z
  .string()
  .regex(/^\d{1,8}(\.[a-z]{3,4})?$/, "must be a number, perhaps with .png, .webp, .jpg or .mvt")
  .transform((text) => {
    const [row = "", extension] = text.split(".");
    return { y: Number(row), extension };
  });

export const tileParams = {
  z: integer(0, mostZoom),
  x: integer(0, 2 ** mostZoom - 1),
  y: rowFile,
};

const identifier = z.string().min(1).max(255);
export const collectionParams = { collection_id: identifier };

/** Below the items of the catalogue: which of them somebody may see is asked of the catalogue. */
export const itemShape = {
  params: { ...collectionParams, item_id: identifier },
  query: {},
  access: "public",
} as const;
