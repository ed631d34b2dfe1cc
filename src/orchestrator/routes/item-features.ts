import type { Handlers } from "../../adapters/http/handler.ts";
import { findItem } from "../../adapters/postgres/queries/catalogue-items.ts";
import type { itemFeatureContracts } from "../../core/api/features.ts";
import { Problem } from "../../core/errors.ts";
import type { Layer } from "../../core/serving/layer.ts";
import { layerOfItem } from "../../core/serving/layer-of-item.ts";
import type { RouteDeps } from "./deps.ts";

interface ItemParams {
  readonly collection_id: string;
  readonly item_id: string;
}

/** The features of a catalogue item. */
export function itemFeatureRoutes(
  deps: Pick<RouteDeps, "db" | "features">,
): Handlers<typeof itemFeatureContracts> {
  const { db, features } = deps;
  async function find({ collection_id, item_id }: ItemParams): Promise<Layer> {
    const layer = layerOfItem(await findItem(db, collection_id, item_id));
    if (layer !== undefined) return layer;
    throw new Problem(
      "ITEM_NOT_FOUND",
      `"${collection_id}" has no item "${item_id}" that can be shown.`,
    );
  }
  const baseOf = ({ collection_id, item_id }: ItemParams) =>
    `/stac/collections/${encodeURIComponent(collection_id)}/items/${encodeURIComponent(item_id)}/features`;

  return {
    getItemFeatures: async (request) =>
      features.collection(await find(request.params), baseOf(request.params), request),
    getItemQueryables: async (request) =>
      features.queryables(await find(request.params), baseOf(request.params), request),
    listItemFeatures: async (request) =>
      features.items(await find(request.params), baseOf(request.params), request),
    getItemFeature: async (request) =>
      features.item(await find(request.params), request.params.feature_id, request),
    getItemFeatureTile: async (request) =>
      features.tile(await find(request.params), request.params, request),
    getItemFeatureTileJson: async (request) =>
      features.tileJson(await find(request.params), baseOf(request.params), request),
  };
}
