/** The vector layers as OGC API – Features and Tiles, below one address. */
import type { ApiRequest, Caller, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { baseOf } from "../../adapters/http/base-url.ts";
import { version } from "../../adapters/runtime/version.ts";
import type { Contract } from "../../core/api/contract.ts";
import { makeOpenApi } from "../../core/api/openapi.ts";
import { ogcContracts } from "../../core/api/ogc-layers.ts";
import { Problem } from "../../core/errors.ts";
import { assetId } from "../../core/model/asset.ts";
import { once } from "../../core/once.ts";
import {
  itemOfLayerId,
  matrixSetsDocument,
  ogcConformance,
  ogcLanding,
} from "../../core/serving/ogc-documents.ts";
import { matrixSetDocument } from "../../core/serving/tile-matrix-set.ts";
import type { ItemRequest } from "./check-clearance.ts";
import { viewerOf } from "./check-clearance.ts";
import type { ItemLayers } from "./find-item-layer.ts";
import { findAssetLayer } from "./find-layer.ts";
import { listVectorLayers } from "./list-vector-layers.ts";
import type { LayerRouteDeps } from "./routes.ts";

interface LayerRequest {
  readonly params: { readonly layer_id: string };
  readonly caller: Caller | undefined;
}

const openapi = { "content-type": "application/vnd.oai.openapi+json;version=3.1" };

export function ogcRoutes(
  { db, features }: Pick<LayerRouteDeps, "db" | "features">,
  items: ItemLayers,
): Handlers<typeof ogcContracts> {
  const document = once(() => makeOpenApi(ogcContracts, version));
  const isAsset = (layerId: string) => assetId.safeParse(layerId).success;
  const itemOf = ({ params: { layer_id }, caller }: LayerRequest): ItemRequest => {
    const params = itemOfLayerId(layer_id);
    if (params === undefined) {
      throw new Problem("NOT_FOUND", `"${layer_id}" names no layer: /ogc/collections lists them.`);
    }
    return { params, caller };
  };
  const find = async (request: LayerRequest) => {
    const asset_id = request.params.layer_id;
    if (!isAsset(asset_id)) return items.find(itemOf(request));
    const wanted = { asset_id, version: "latest", preview: false } as const;
    return findAssetLayer(db, wanted, viewerOf(request.caller));
  };
  const base = ({ params }: LayerRequest) =>
    `/ogc/collections/${encodeURIComponent(params.layer_id)}`;
  /** Undefined: the layer is gone, or no longer served. */
  const describe = async (
    id: string,
    request: Pick<ApiRequest<Contract>, "header" | "caller" | "signal">,
  ) => {
    const wanted = { params: { layer_id: id }, caller: request.caller };
    try {
      return await features.collection(await find(wanted), { base: base(wanted), id }, request);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 404) throw error;
    }
  };

  return {
    ogcLanding: async (request) => ogcLanding(baseOf(request)) as never,
    ogcConformance: async () => ({ conformsTo: [...ogcConformance] }),
    ogcApi: async () => new Answer(document(), { headers: openapi }),
    ogcTileMatrixSets: async (request) => matrixSetsDocument(baseOf(request)),
    ogcTileMatrixSet: async () => matrixSetDocument(),
    ogcCollections: async (request) => {
      const at = baseOf(request);
      const { onlyLayers } = request.caller ?? {};
      if (onlyLayers === undefined) {
        return listVectorLayers(db, viewerOf(request.caller), { ...request.query, base: at });
      }
      const collections = await Promise.all(onlyLayers.map((id) => describe(id, request)));
      const self = { rel: "self", type: "application/json", href: `${at}/ogc/collections` };
      return { collections: collections.filter((each) => each !== undefined), links: [self] };
    },

    getLayerFeatures: async (request) =>
      features.collection(
        await find(request),
        { base: base(request), id: request.params.layer_id },
        request,
      ),
    getLayerQueryables: async (request) =>
      features.queryables(await find(request), base(request), request),
    listLayerFeatures: async (request) =>
      features.items(await find(request), base(request), request),
    getLayerFeature: async (request) =>
      features.item(await find(request), request.params.feature_id, request),
    listLayerTileSets: async (request) =>
      features.tileSets(await find(request), base(request), request),
    getLayerTileSet: async (request) =>
      features.tileSet(await find(request), base(request), request),
    getLayerFeatureTile: async (request) =>
      isAsset(request.params.layer_id)
        ? features.tile(await find(request), request.params, request)
        : features.itemTile(items, itemOf(request), request.params, request),
    getLayerFeatureTileJson: async (request) =>
      features.tileJson(await find(request), base(request), request),
  };
}
