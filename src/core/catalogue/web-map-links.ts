/**
 * How a catalogued layer is shown: links of the extension web-map-links, and a thumbnail. They follow
 * from the item's assets and are added to answers, not stored.
 */
import { fileOfAsset } from "./reference.ts";
import { extensions } from "./stac.ts";
import type { StacAsset, StacItem, StacLink } from "./stac.ts";

export interface Shown {
  readonly links: readonly StacLink[];
  readonly assets: Readonly<Record<string, StacAsset>>;
  readonly extensions: readonly string[];
}

/** The name of the one layer of a WMTS. */
export const wmtsLayer = "default";
export const thumbnailKey = "thumbnail";
/** The relations of links that `showItem` adds. */
export const shownRelations: ReadonlySet<string> = new Set(["xyz", "wmts", "tilejson"]);

/** `self` is the address of the item. */
export function showItem({ assets }: StacItem, self: string): Shown {
  const isRaster = (key: string) =>
    Object.hasOwn(assets, key) && fileOfAsset(assets[key] ?? {}) !== undefined;
  const hasOneFile = isRaster("data");
  const hasTiles = isRaster("tile_0");
  const hasFeatures =
    Object.hasOwn(assets, "features") && assets["features"]?.["rmhdag:table"] !== undefined;
  if (!hasOneFile && !hasTiles && !hasFeatures) return { links: [], assets: {}, extensions: [] };
  const tiles = `${self}/tiles/WebMercatorQuad/{z}/{x}/{y}`;
  return {
    links: [
      hasFeatures
        ? { rel: "xyz", href: `${tiles}.mvt`, type: "application/vnd.mapbox-vector-tile" }
        : { rel: "xyz", href: `${tiles}.png`, type: "image/png" },
      {
        rel: "wmts",
        href: `${self}/WMTSCapabilities.xml`,
        type: "application/xml",
        "wmts:layer": wmtsLayer,
      },
      {
        rel: "tilejson",
        href: `${self}/WebMercatorQuad/tilejson.json`,
        type: "application/json",
      },
    ],
    assets:
      hasOneFile && !Object.hasOwn(assets, thumbnailKey)
        ? {
            [thumbnailKey]: {
              href: `${self}/preview?max_size=256&format=png`,
              type: "image/png",
              title: "Thumbnail",
              roles: ["thumbnail"],
            },
          }
        : {},
    extensions: [extensions.webMapLinks],
  };
}
