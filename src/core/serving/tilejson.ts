import { z } from "zod";
import type { Bounds } from "./layer.ts";
import { mostLatitude } from "./web-mercator.ts";

/** TileJSON 3.0.0, as far as rasters need it. */
export const tileJson = z
  .object({
    tilejson: z.literal("3.0.0"),
    name: z.string(),
    version: z.string(),
    scheme: z.literal("xyz"),
    tiles: z.array(z.string()),
    minzoom: z.number().int(),
    maxzoom: z.number().int(),
    bounds: z.tuple([z.number(), z.number(), z.number(), z.number()]),
    center: z.tuple([z.number(), z.number(), z.number()]),
  })
  .meta({ id: "TileJson" });
export type TileJson = z.infer<typeof tileJson>;

export function makeTileJson(layer: {
  readonly title: string;
  readonly address: string;
  readonly bounds: Bounds;
  readonly minZoom: number;
  readonly maxZoom: number;
}): TileJson {
  const [west, south, east, north] = layer.bounds;
  // Clients take west > east for an error, so a layer across the antimeridian spans the world.
  const bounds: TileJson["bounds"] =
    west > east
      ? [-180, limit(south), 180, limit(north)]
      : [west, limit(south), east, limit(north)];
  const width = west > east ? east + 360 - west : east - west;
  const middle = ((west + width / 2 + 540) % 360) - 180;
  return {
    tilejson: "3.0.0",
    name: layer.title,
    version: "1.0.0",
    scheme: "xyz",
    tiles: [layer.address],
    minzoom: layer.minZoom,
    maxzoom: layer.maxZoom,
    bounds,
    center: [middle, (bounds[1] + bounds[3]) / 2, layer.minZoom],
  };
}

function limit(latitude: number): number {
  return Math.max(-mostLatitude, Math.min(mostLatitude, latitude));
}
