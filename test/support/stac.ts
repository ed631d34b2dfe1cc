import { rectangle } from "../../src/core/geometry/boxes.ts";
import { buildCollection } from "../../src/core/catalogue/collection.ts";
import type { Bbox } from "../../src/core/geometry/geometry.ts";
import { stacVersion } from "../../src/core/catalogue/stac.ts";
import type { StacCollection, StacItem } from "../../src/core/catalogue/stac.ts";

export function collectionOf(id: string): StacCollection {
  return buildCollection({ collection_id: id, license: "CC-BY-4.0" });
}

/** A minimal valid item. */
export function itemOf(
  collection: string,
  id: string,
  given: {
    bbox?: Bbox;
    datetime?: string;
    properties?: Record<string, unknown>;
    assets?: StacItem["assets"];
  } = {},
): StacItem {
  const { bbox = [5, 45, 10, 50], datetime = "2020-06-01T00:00:00Z" } = given;
  return {
    type: "Feature",
    stac_version: stacVersion,
    stac_extensions: [],
    id,
    collection,
    geometry: rectangle(bbox),
    bbox: [...bbox],
    properties: { datetime, ...given.properties },
    links: [],
    assets: given.assets ?? {},
  };
}
