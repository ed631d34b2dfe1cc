import type { Caller, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { assetLayerContracts } from "../../core/api/asset-layers.ts";
import type { WantedVersion } from "../../core/domain/served-version.ts";
import { Problem } from "../../core/errors.ts";
import type { Layer } from "../../core/serving/layer.ts";
import type { Wanted } from "./find-layer.ts";
import { resolveItem, resolveLayer, resolveVersion } from "./find-layer.ts";
import type { RouteDeps } from "../route-deps.ts";
import { viewerOf } from "./check-clearance.ts";

export interface AssetRequest {
  readonly params: { readonly asset_id: string };
  readonly query: { readonly version: WantedVersion; readonly preview?: "true" | undefined };
  readonly caller: Caller | undefined;
}

/** The layers of assets: what is approved and cleared, and for curators what waits for them. */
export function assetLayerRoutes(
  deps: Pick<RouteDeps, "db" | "layers">,
): Handlers<typeof assetLayerContracts> {
  const { db, layers } = deps;
  const find = (request: AssetRequest): Promise<Layer> =>
    resolveLayer(db, wantedOf(request), viewerOf(request.caller));
  const baseOf = ({ params }: AssetRequest) => `/tiles/${params.asset_id}`;

  return {
    getAssetLayer: async (request) =>
      layers.tileJson(await find(request), baseOf(request), request),
    getAssetItem: async (request) => {
      const version = await resolveVersion(db, wantedOf(request), viewerOf(request.caller));
      const item = await resolveItem(db, version);
      if (item === undefined) {
        throw new Problem("LAYER_NOT_FOUND", "The catalogue has no item of this version.");
      }
      return new Answer(JSON.stringify(item), {
        headers: { "cache-control": "private, no-cache" },
      });
    },
    getAssetTile: async (request) => layers.tile(await find(request), request),
    getAssetTileJson: async (request) =>
      layers.tileJson(await find(request), baseOf(request), request),
    getAssetPreview: async (request) => layers.preview(await find(request), request),
    getAssetPoint: async (request) => layers.point(await find(request), request),
    getAssetStatistics: async (request) => layers.statistics(await find(request), request),
    getAssetInfo: async (request) => layers.info(await find(request)),
    getAssetMap: async (request) => layers.map(await find(request), baseOf(request), request),
  };
}

export function wantedOf({ params, query }: AssetRequest): Wanted {
  return {
    asset_id: params.asset_id,
    version: query.version,
    preview: query.preview === "true",
  };
}
