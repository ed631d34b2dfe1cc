import { findCollection } from "../../adapters/postgres/queries/catalogue-collections.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Box } from "../../core/geometry/boxes.ts";
import { Problem } from "../../core/errors.ts";
import type { MosaicLayer } from "../../core/serving/layer.ts";
import type { CollectionRequest } from "./check-clearance.ts";
import { checkCollection, viewerOf } from "./check-clearance.ts";
import { makeMosaic } from "./make-mosaic.ts";

/** The rasters of a collection as one layer, with title and bounds of the collection. */
export async function findCollectionLayer(
  db: Queryable,
  request: CollectionRequest,
  box?: Box,
): Promise<MosaicLayer> {
  const { params, caller } = request;
  const layer = await findCollectionTile(db, request, box);
  const collection = await findCollection(db, viewerOf(caller), params.collection_id);
  const [west = -180, south = -90, east = 180, north = 90] =
    collection?.extent.spatial.bbox[0] ?? [];
  const title = collection?.title ?? layer.title;
  return { ...layer, title, bounds: [west, south, east, north] };
}

/** The same without the bounds of the collection, whose query takes longer than a tile may. */
export async function findCollectionTile(
  db: Queryable,
  request: CollectionRequest,
  box?: Box,
): Promise<MosaicLayer> {
  await checkCollection(db, request);
  const { collection_id } = request.params;
  const viewer = viewerOf(request.caller);
  const filter = { collections: [collection_id] };
  const layer = await makeMosaic(db, viewer, filter, collection_id, box);
  if (layer !== undefined) return layer;
  throw new Problem("NOT_FOUND", `"${collection_id}" has no rasters that can be shown.`);
}
