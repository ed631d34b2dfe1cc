import type { Caller } from "../../adapters/http/handler.ts";
import { findCollection } from "../../adapters/postgres/queries/catalogue-collections.ts";
import { searchItems } from "../../adapters/postgres/queries/catalogue-items.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Box } from "../../core/catalogue/boxes.ts";
import { Problem } from "../../core/errors.ts";
import { layerOfItem, mostSamples } from "../../core/serving/layer-of-item.ts";
import type { MosaicLayer, RasterLayer } from "../../core/serving/layer.ts";
import { notThere, viewerOf } from "./viewer.ts";

export interface CollectionRequest {
  readonly params: { readonly collection_id: string };
  readonly caller: Caller | undefined;
}

/** Items that one tile is made of, the newest first; as many as TiTiler takes. */
const mostItems = 100;

/** The rasters of a collection as one layer; of a tile only those that reach into it. */
export async function findCollectionLayer(
  db: Queryable,
  { params, caller }: CollectionRequest,
  box?: Box,
): Promise<MosaicLayer> {
  const viewer = viewerOf(caller);
  const { collection_id } = params;
  const collection = await findCollection(db, viewer, collection_id);
  if (collection === undefined) {
    const detail = `There is no collection "${collection_id}".`;
    throw notThere(viewer, "COLLECTION_NOT_FOUND", detail);
  }
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
  const [west = -180, south = -90, east = 180, north = 90] =
    collection.extent.spatial.bbox[0] ?? [];
  return {
    kind: "mosaic",
    title: collection.title ?? collection_id,
    bounds: [west, south, east, north],
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
