import { findCollection } from "../../adapters/postgres/queries/catalogue-collections.ts";
import { searchItems } from "../../adapters/postgres/queries/catalogue-items.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Box } from "../../core/geometry/boxes.ts";
import { Problem } from "../../core/errors.ts";
import { layerOfItem, mostSamples } from "../../core/serving/layer-of-item.ts";
import type { MosaicLayer, RasterLayer } from "../../core/serving/layer.ts";
import type { CollectionRequest } from "./check-clearance.ts";
import { checkCollection, viewerOf } from "./check-clearance.ts";

/** Items that one tile is made of, the newest first; TiTiler has the same limit. */
const mostItems = 100;

const world = [-180, -90, 180, 90] as const;

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
  const rasters = async (limit: number, boxes?: readonly Box[]): Promise<RasterLayer[]> => {
    const filter = { collections: [collection_id], boxes };
    const { items } = await searchItems(db, viewer, { filter, sort: [], limit });
    return items.flatMap(({ item }) => rastersOf(item));
  };
  const samples = (await rasters(2 * mostSamples)).slice(0, mostSamples);
  const members = box === undefined ? samples : await rasters(mostItems, [box]);
  const [first] = samples;
  if (first === undefined) {
    throw new Problem("NOT_FOUND", `"${collection_id}" has no rasters that can be shown.`);
  }
  return {
    kind: "mosaic",
    title: collection_id,
    bounds: world,
    style: first.style,
    members,
    samples,
    version_tag: [...members, ...samples]
      .map(({ path, version_tag }) => `${path}@${version_tag}`)
      .join(" "),
  };
}

function rastersOf(item: unknown): readonly RasterLayer[] {
  const layer = layerOfItem(item);
  if (layer === undefined || layer.kind === "vector") return [];
  return layer.kind === "mosaic" ? layer.members : [layer];
}
