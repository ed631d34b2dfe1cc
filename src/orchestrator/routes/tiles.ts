import type { Handlers } from "../../adapters/http/handler.ts";
import { answerMapFile } from "../../adapters/http/map-files.ts";
import { findItem } from "../../adapters/postgres/queries/catalogue-items.ts";
import type { itemLayerContracts, mapContracts } from "../../core/api/tiles.ts";
import { Problem } from "../../core/errors.ts";
import { layerOfItem } from "../../core/serving/layer-of-item.ts";
import type { Layer } from "../../core/serving/layer.ts";
import type { RouteDeps } from "./deps.ts";

interface ItemParams {
  readonly collection_id: string;
  readonly item_id: string;
}

export function tileRoutes(
  deps: Pick<RouteDeps, "db" | "layers">,
): Handlers<typeof itemLayerContracts> & Handlers<typeof mapContracts> {
  const { db, layers } = deps;

  async function find({ params }: { params: ItemParams }): Promise<Layer> {
    const item = await findItem(db, params.collection_id, params.item_id);
    const layer = layerOfItem(item);
    if (layer !== undefined) return layer;
    throw new Problem(
      "ITEM_NOT_FOUND",
      `"${params.collection_id}" has no item "${params.item_id}" that can be shown.`,
    );
  }
  const baseOf = ({ params }: { params: ItemParams }) =>
    `/stac/collections/${encodeURIComponent(params.collection_id)}/items/${encodeURIComponent(params.item_id)}`;

  return {
    getItemTile: async (request) => layers.tile(await find(request), request),
    getItemTileJson: async (request) =>
      layers.tileJson(await find(request), baseOf(request), request),
    getItemPreview: async (request) => layers.preview(await find(request), request),
    getItemPoint: async (request) => layers.point(await find(request), request),
    getItemStatistics: async (request) => layers.statistics(await find(request), request),
    getItemInfo: async (request) => layers.info(await find(request)),
    getItemMap: async (request) => layers.map(await find(request), baseOf(request), request),
    getMapFile: async (request) =>
      answerMapFile(request.params.file, (name) => request.header(name)),
  };
}
