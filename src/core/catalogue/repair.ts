import { isJsonObject } from "../model/json.ts";
import { firstIssueText } from "../model/issue-text.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { bboxOf } from "../geometry/boxes.ts";
import { simpleGeometry } from "../geometry/geometry.ts";
import { assetHref } from "./raster-item.ts";
import { stacItem, stacVersion } from "./stac.ts";
import type { StacItem } from "./stac.ts";

export type Repair =
  | { readonly item: StacItem; readonly changes: string[] }
  | { readonly item: undefined; readonly problem: string };

/**
 * Rewrites the parts of an item that follow from the rest of it, and reports what it cannot repair.
 */
export function repairItem(collectionId: string, itemId: string, given: Json): Repair {
  if (!isJsonObject(given)) return { item: undefined, problem: "it is not an object" };
  const repaired: JsonObject = {
    ...given,
    type: "Feature",
    stac_version: stacVersion,
    stac_extensions: Array.isArray(given["stac_extensions"]) ? given["stac_extensions"] : [],
    id: itemId,
    collection: collectionId,
    // Links to the platform are made for every answer; only links to elsewhere are stored.
    links: Array.isArray(given["links"]) ? given["links"] : [],
    assets: repairAssets(collectionId, itemId, given["assets"]),
    ...repairBbox(given),
  };
  const checked = stacItem.safeParse(repaired);
  if (!checked.success) return { item: undefined, problem: firstIssueText(checked.error) };
  const changes = Object.keys(repaired).filter((key) => !isSame(repaired[key], given[key]));
  return { item: checked.data, changes };
}

function repairBbox(given: JsonObject): JsonObject {
  const geometry = simpleGeometry.safeParse(given["geometry"]);
  return geometry.success ? { bbox: [...bboxOf(geometry.data)] } : {};
}

function repairAssets(collectionId: string, itemId: string, assets: Json | undefined): JsonObject {
  if (assets === undefined || !isJsonObject(assets)) return {};
  return Object.fromEntries(
    Object.entries(assets).map(([key, asset]) => {
      const isOurs = isJsonObject(asset) && typeof asset["rmhdag:path"] === "string";
      return [key, isOurs ? { ...asset, href: assetHref(collectionId, itemId, key) } : asset];
    }),
  );
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
