import type { Handlers } from "../../adapters/http/handler.ts";
import { answerMapFile } from "../../adapters/http/map-files.ts";
import type { itemLayerContracts, mapContracts } from "../../core/api/tiles.ts";
import type { RouteDeps } from "../route-deps.ts";
import type { ItemRequest } from "./item-layer.ts";
import { findItemLayer, itemBase } from "./item-layer.ts";

export function tileRoutes(
  deps: Pick<RouteDeps, "db" | "layers">,
): Handlers<typeof itemLayerContracts> & Handlers<typeof mapContracts> {
  const { db, layers } = deps;
  const find = (request: ItemRequest) => findItemLayer(db, request);

  return {
    getItemTile: async (request) => layers.tile(await find(request), request),
    getItemTileJson: async (request) =>
      layers.tileJson(await find(request), itemBase(request), request),
    getItemPreview: async (request) => layers.preview(await find(request), request),
    getItemPoint: async (request) => layers.point(await find(request), request),
    getItemStatistics: async (request) => layers.statistics(await find(request), request),
    getItemInfo: async (request) => layers.info(await find(request)),
    getItemMap: async (request) => layers.map(await find(request), itemBase(request), request),
    getMapFile: async (request) =>
      answerMapFile(request.params.file, (name) => request.header(name)),
  };
}
