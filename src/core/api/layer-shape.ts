/** The common parts of the routes to rasters and to features. */
import { z } from "zod";
import { mostZoom } from "../serving/web-mercator.ts";
import type { Access } from "./contract.ts";
import { integer } from "./schemas.ts";

/**
 * The parameters that name a layer, the query that every route of it accepts, and the right that a
 * call needs.
 */
export interface LayerShape<Params extends z.ZodRawShape, Query extends z.ZodRawShape> {
  readonly params: Params;
  readonly query: Query;
  readonly access: Access;
}

export const layerErrors = [
  ...(["BAD_REQUEST", "UNAUTHENTICATED", "NOT_FOUND", "ITEM_NOT_FOUND", "UNAVAILABLE"] as const),
] as const;

/** The row of a tile, with its format after a dot. */
const rowFile = z
  .string()
  .regex(
    /^\d{1,8}(\.(png|webp|jpe?g|mvt|pbf))?$/,
    "must be a number, perhaps with .png, .webp, .jpg or .mvt",
  )
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

/** Layers below the items of the catalogue, which decides which items the caller may see. */
export const itemShape = {
  params: { ...collectionParams, item_id: identifier },
  query: {},
  access: "public",
} as const;
