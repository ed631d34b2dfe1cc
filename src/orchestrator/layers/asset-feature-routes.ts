import type { Handlers } from "../../adapters/http/handler.ts";
import type { assetFeatureContracts } from "../../core/api/asset-layers.ts";
import type { Layer } from "../../core/serving/layer.ts";
import { resolveLayer } from "./find-layer.ts";
import type { AssetRequest } from "./routes.ts";
import { wantedOf } from "./routes.ts";
import type { RouteDeps } from "../route-deps.ts";
import { viewerOf } from "./check-clearance.ts";

/** Parameters of these addresses that are no columns of a table. */
const own = ["version", "preview"];

/** The features of assets, under the same rules as their tiles. */
export function assetFeatureRoutes(
  deps: Pick<RouteDeps, "db" | "features">,
): Handlers<typeof assetFeatureContracts> {
  const { db, features } = deps;
  const find = (request: AssetRequest): Promise<Layer> =>
    resolveLayer(db, wantedOf(request), viewerOf(request.caller));
  const baseOf = ({ params }: AssetRequest) => `/features/${params.asset_id}`;

  return {
    getAssetFeatures: async (request) =>
      features.collection(await find(request), baseOf(request), request),
    getAssetQueryables: async (request) =>
      features.queryables(await find(request), baseOf(request), request),
    listAssetFeatures: async (request) =>
      features.items(await find(request), baseOf(request), request, own),
    getAssetFeature: async (request) =>
      features.item(await find(request), request.params.feature_id, request),
    getAssetFeatureTile: async (request) =>
      features.tile(await find(request), request.params, request),
    getAssetFeatureTileJson: async (request) =>
      features.tileJson(await find(request), baseOf(request), request),
  };
}
