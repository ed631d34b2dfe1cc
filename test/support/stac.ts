import type { Database } from "../../src/adapters/postgres/database.ts";
import { ownerOfJob } from "../../src/adapters/postgres/queries/catalogue-owners.ts";
import {
  ensureCollection,
  upsertItems,
} from "../../src/adapters/postgres/repositories/catalogue.ts";
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

/** Registers items as the handlers of a job do. */
export async function registerFor(
  db: Database,
  jobId: string,
  items: readonly StacItem[],
): Promise<void> {
  const owner = await ownerOfJob(db, jobId);
  for (const item of items) {
    await ensureCollection(db, collectionOf(item.collection), owner);
    await upsertItems(db, item.collection, [item], owner);
  }
}
