import type { Handlers } from "../../adapters/http/handler.ts";
import type { itemFeatureContracts } from "../../core/api/features.ts";
import type { RouteDeps } from "../route-deps.ts";
import type { ItemRequest } from "./item-layer.ts";
import { findItemLayer, itemBase } from "./item-layer.ts";

/** The features of a catalogue item. */
export function itemFeatureRoutes(
  deps: Pick<RouteDeps, "db" | "features">,
): Handlers<typeof itemFeatureContracts> {
  const { db, features } = deps;
  const find = (request: ItemRequest) => findItemLayer(db, request);
  const baseOf = (request: ItemRequest) => `${itemBase(request)}/features`;

  return {
    getItemFeatures: async (request) =>
      features.collection(await find(request), baseOf(request), request),
    getItemQueryables: async (request) =>
      features.queryables(await find(request), baseOf(request), request),
    listItemFeatures: async (request) =>
      features.items(await find(request), baseOf(request), request),
    getItemFeature: async (request) =>
      features.item(await find(request), request.params.feature_id, request),
    getItemFeatureTile: async (request) =>
      features.tile(await find(request), request.params, request),
    getItemFeatureTileJson: async (request) =>
      features.tileJson(await find(request), baseOf(request), request),
  };
}
