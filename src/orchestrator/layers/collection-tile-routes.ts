import type { Handlers } from "../../adapters/http/handler.ts";
import type { collectionLayerContracts } from "../../core/api/tiles.ts";
import { tileBounds } from "../../core/serving/web-mercator.ts";
import type { CollectionRequest } from "./collection-layer.ts";
import { findCollectionLayer, findCollectionTile } from "./collection-layer.ts";
import type { RouteDeps } from "../route-deps.ts";

/** A collection on the map: its rasters as one layer. */
export function collectionTileRoutes(
  deps: Pick<RouteDeps, "db" | "layers">,
): Handlers<typeof collectionLayerContracts> {
  const { db, layers } = deps;
  const baseOf = ({ params }: CollectionRequest) =>
    `/stac/collections/${encodeURIComponent(params.collection_id)}`;

  return {
    getCollectionTile: async (request) => {
      const { z, x, y } = request.params;
      const layer = await findCollectionTile(db, request, tileBounds(z, x, y.y));
      return layers.tile(layer, request);
    },
    getCollectionTileJson: async (request) =>
      layers.tileJson(await findCollectionLayer(db, request), baseOf(request), request),
    getCollectionPoint: async (request) => {
      const { lon, lat } = request.params.place;
      return layers.point(await findCollectionLayer(db, request, [lon, lat, lon, lat]), request);
    },
    getCollectionMap: async (request) =>
      layers.map(await findCollectionLayer(db, request), baseOf(request), request),
  };
}
