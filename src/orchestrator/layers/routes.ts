/**
 * Tiles, pictures and features of layers. An address names a layer by an asset, by an item of the
 * catalogue or by a collection; `find-layer.ts` and `find-collection-layer.ts` find it and check who
 * may see it, and `layer-answers.ts` and `feature-answers.ts` answer.
 */
import type { Caller, Handlers } from "../../adapters/http/handler.ts";
import type { AccessPolicy } from "../../adapters/http/access.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { baseOf } from "../../adapters/http/base-url.ts";
import { answerMapFile } from "../../adapters/http/map-files.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { assetFeatureContracts, assetLayerContracts } from "../../core/api/asset-layers.ts";
import type { itemFeatureContracts } from "../../core/api/features.ts";
import type {
  collectionLayerContracts,
  itemLayerContracts,
  mapContracts,
} from "../../core/api/tiles.ts";
import { linkItem } from "../../core/catalogue/links.ts";
import type { WantedVersion } from "../../core/domain/served-version.ts";
import { Problem } from "../../core/errors.ts";
import type { Box } from "../../core/geometry/boxes.ts";
import { layerIdOf } from "../../core/serving/ogc-documents.ts";
import { tileBounds } from "../../core/serving/web-mercator.ts";
import type { AssetDeps } from "../assets/deps.ts";
import type { CollectionRequest, ItemRequest, WantedLayer } from "./check-clearance.ts";
import { findServedVersion, viewerOf } from "./check-clearance.ts";
import type { FeatureAnswers } from "./feature-answers.ts";
import { findCollectionLayer, findCollectionTile } from "./find-collection-layer.ts";
import type { ItemLayers } from "./find-item-layer.ts";
import { createItemLayers } from "./find-item-layer.ts";
import { findAssetLayer, findItemOfVersion } from "./find-layer.ts";
import type { LayerAnswers } from "./layer-answers.ts";
import { metadataRoutes } from "./metadata-routes.ts";
import { ogcRoutes } from "./ogc-routes.ts";
import { signLayer } from "./sign-layer.ts";
import { signInFirst } from "./sign-in-first.ts";

export interface LayerRouteDeps {
  readonly db: Database;
  readonly assets: AssetDeps;
  readonly layers: LayerAnswers;
  readonly features: FeatureAnswers;
  readonly access: Pick<AccessPolicy, "signer">;
}

export function layerRoutes(deps: LayerRouteDeps) {
  const items = createItemLayers(deps.db);
  return {
    ...assetRoutes(deps),
    ...itemRoutes(deps, items),
    ...collectionRoutes(deps),
    ...ogcRoutes(deps, items),
    ...metadataRoutes(deps),
    getMapFile: async (request) =>
      answerMapFile(request.params.file, (name) => request.header(name)),
  } satisfies Handlers<typeof mapContracts>;
}

interface AssetRequest {
  readonly params: { readonly asset_id: string };
  readonly query: { readonly version: WantedVersion; readonly preview?: "true" | undefined };
  readonly caller: Caller | undefined;
}

/** The address without a version: what is served there changes with the asset. */
const isServed = ({ query }: AssetRequest): boolean =>
  query.version === "latest" && query.preview === undefined;

/** Parameters of the address of an asset that are no columns of its table. */
const parametersOfAsset = ["version", "preview"];

function assetRoutes({
  db,
  layers,
  features,
  access,
}: LayerRouteDeps): Handlers<typeof assetLayerContracts> & Handlers<typeof assetFeatureContracts> {
  const wantedOf = ({ params, query }: AssetRequest): WantedLayer => ({
    asset_id: params.asset_id,
    version: query.version,
    preview: query.preview === "true",
  });
  const find = (request: AssetRequest, box?: Box) =>
    findAssetLayer(db, wantedOf(request), viewerOf(request.caller), box);
  const tiles = ({ params }: AssetRequest) => `/tiles/${params.asset_id}`;
  const ofFeatures = ({ params }: AssetRequest) => `/features/${params.asset_id}`;

  return {
    getAssetLayer: async (request) => layers.tileJson(await find(request), tiles(request), request),
    getAssetItem: async (request) => {
      const viewer = viewerOf(request.caller);
      const version = await findServedVersion(db, wantedOf(request), viewer);
      const item = await findItemOfVersion(db, version);
      if (item === undefined) {
        throw new Problem("LAYER_NOT_FOUND", "The catalogue has no item of this version.");
      }
      return new Answer(JSON.stringify(linkItem(item, baseOf(request), viewer)), {
        headers: { "cache-control": "private, no-cache" },
      });
    },
    getAssetTile: async (request) => {
      const { z, x, y } = request.params;
      return layers.tile(await find(request, tileBounds(z, x, y.y)), request);
    },
    getAssetTileJson: async (request) =>
      layers.tileJson(await find(request), tiles(request), request),
    getAssetStyle: async (request) => layers.style(await find(request), tiles(request), request),
    getAssetWmts: async (request) => layers.wmts(await find(request), tiles(request), request),
    signAssetLayer: (request) =>
      signLayer(access, request, {
        find: (caller) => find({ ...request, caller }),
        base: tiles(request),
        features: ofFeatures(request),
        layerId: isServed(request) ? request.params.asset_id : undefined,
      }),
    getAssetPreview: async (request) => layers.preview(await find(request), request),
    getAssetPoint: async (request) => {
      const { lon, lat } = request.params.place;
      return layers.point(await find(request, [lon, lat, lon, lat]), request);
    },
    getAssetStatistics: async (request) => layers.statistics(await find(request), request),
    getAssetAreaStatistics: async (request) => layers.areaStatistics(await find(request), request),
    getAssetInfo: async (request) => layers.info(await find(request)),
    getAssetMap: async (request) =>
      signInFirst(request, `${tiles(request)}/map`, async () =>
        layers.map(await find(request), tiles(request), request),
      ),

    getAssetFeatures: async (request) =>
      features.collection(
        await find(request),
        { base: ofFeatures(request), id: request.params.asset_id },
        request,
      ),
    listAssetTileSets: async (request) =>
      features.tileSets(await find(request), ofFeatures(request), request),
    getAssetTileSet: async (request) =>
      features.tileSet(await find(request), ofFeatures(request), request),
    getAssetQueryables: async (request) =>
      features.queryables(await find(request), ofFeatures(request), request),
    listAssetFeatures: async (request) =>
      features.items(await find(request), ofFeatures(request), request, parametersOfAsset),
    getAssetFeature: async (request) =>
      features.item(await find(request), request.params.feature_id, request),
    getAssetFeatureTile: async (request) =>
      features.tile(await find(request), request.params, request),
    getAssetFeatureTileJson: async (request) =>
      features.tileJson(await find(request), ofFeatures(request), request),
  };
}

function itemRoutes(
  { layers, features, access }: LayerRouteDeps,
  items: ItemLayers,
): Handlers<typeof itemLayerContracts> & Handlers<typeof itemFeatureContracts> {
  const { find } = items;
  const base = ({ params: { collection_id, item_id } }: ItemRequest) =>
    `/stac/collections/${encodeURIComponent(collection_id)}/items/${encodeURIComponent(item_id)}`;
  const ofFeatures = (request: ItemRequest) => `${base(request)}/features`;

  return {
    getItemTile: async (request) => layers.tile(await find(request), request),
    getItemTileJson: async (request) =>
      layers.tileJson(await find(request), base(request), request),
    getItemStyle: async (request) => layers.style(await find(request), base(request), request),
    getItemWmts: async (request) => layers.wmts(await find(request), base(request), request),
    signItemLayer: (request) =>
      signLayer(access, request, {
        find: (caller) => find({ ...request, caller }),
        base: base(request),
        features: ofFeatures(request),
        layerId: layerIdOf({
          collection: request.params.collection_id,
          id: request.params.item_id,
        }),
      }),
    getItemPreview: async (request) => layers.preview(await find(request), request),
    getItemPoint: async (request) => layers.point(await find(request), request),
    getItemStatistics: async (request) => layers.statistics(await find(request), request),
    getItemAreaStatistics: async (request) => layers.areaStatistics(await find(request), request),
    getItemInfo: async (request) => layers.info(await find(request)),
    getItemMap: async (request) =>
      signInFirst(request, `${base(request)}/map`, async () =>
        layers.map(await find(request), base(request), request),
      ),

    getItemFeatures: async (request) =>
      features.collection(
        await find(request),
        { base: ofFeatures(request), id: request.params.item_id },
        request,
      ),
    listItemTileSets: async (request) =>
      features.tileSets(await find(request), ofFeatures(request), request),
    getItemTileSet: async (request) =>
      features.tileSet(await find(request), ofFeatures(request), request),
    getItemQueryables: async (request) =>
      features.queryables(await find(request), ofFeatures(request), request),
    listItemFeatures: async (request) =>
      features.items(await find(request), ofFeatures(request), request),
    getItemFeature: async (request) =>
      features.item(await find(request), request.params.feature_id, request),
    getItemFeatureTile: (request) => features.itemTile(items, request, request.params, request),
    getItemFeatureTileJson: async (request) =>
      features.tileJson(await find(request), ofFeatures(request), request),
  };
}

/** The rasters of a collection as one layer. */
function collectionRoutes({
  db,
  layers,
  access,
}: LayerRouteDeps): Handlers<typeof collectionLayerContracts> {
  const base = ({ params }: CollectionRequest) =>
    `/stac/collections/${encodeURIComponent(params.collection_id)}`;

  return {
    getCollectionTile: async (request) => {
      const { z, x, y } = request.params;
      const layer = await findCollectionTile(db, request, tileBounds(z, x, y.y));
      return layers.tile(layer, request);
    },
    getCollectionTileJson: async (request) =>
      layers.tileJson(await findCollectionLayer(db, request), base(request), request),
    getCollectionStyle: async (request) =>
      layers.style(await findCollectionLayer(db, request), base(request), request),
    getCollectionWmts: async (request) =>
      layers.wmts(await findCollectionLayer(db, request), base(request), request),
    signCollectionLayer: (request) =>
      signLayer(access, request, {
        find: (caller) => findCollectionLayer(db, { ...request, caller }),
        base: base(request),
        features: base(request),
      }),
    getCollectionPoint: async (request) => {
      const { lon, lat } = request.params.place;
      return layers.point(await findCollectionLayer(db, request, [lon, lat, lon, lat]), request);
    },
    getCollectionMap: async (request) =>
      signInFirst(request, `${base(request)}/map`, async () =>
        layers.map(await findCollectionLayer(db, request), base(request), request),
      ),
  };
}
