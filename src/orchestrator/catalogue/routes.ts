import type { ApiRequest, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import {
  findCollection,
  hasCollection,
  listCollections,
  sampleProperties,
} from "../../adapters/postgres/queries/catalogue-collections.ts";
import { findItem } from "../../adapters/postgres/queries/catalogue-items.ts";
import { baseOf } from "../../adapters/http/base-url.ts";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Contract } from "../../core/api/contract.ts";
import { contracts } from "../../core/api/index.ts";
import { makeOpenApi } from "../../core/api/openapi.ts";
import { stacContracts } from "../../core/api/stac.ts";
import { conformance, landingLinks, linkCollection, linkItem } from "../../core/catalogue/links.ts";
import { queryablesOf } from "../../core/catalogue/queryables.ts";
import { stacVersion } from "../../core/catalogue/stac.ts";
import type { StacCollection } from "../../core/catalogue/stac.ts";
import { Problem } from "../../core/errors.ts";
import { once } from "../../core/once.ts";
import { z } from "zod";
import type { RouteDeps } from "../route-deps.ts";
import { serveStored } from "./serve-stored.ts";
import type { CollectionRequest } from "../layers/find-collection-layer.ts";
import type { ItemRequest } from "../layers/item-layer.ts";
import { runSearch } from "./search-items.ts";
import { notThere, viewerOf } from "../layers/check-clearance.ts";

const geojson = { "content-type": "application/geo+json; charset=utf-8" };
const schemaJson = { "content-type": "application/schema+json; charset=utf-8" };
const openapi = { "content-type": "application/vnd.oai.openapi+json;version=3.1" };

/** Enough items to see which properties there are. */
const sampled = 200;

export function stacRoutes(
  deps: Pick<RouteDeps, "db" | "storage" | "version">,
): Handlers<typeof stacContracts> {
  const { db, storage } = deps;
  const document = once(() =>
    makeOpenApi(
      contracts.filter(({ id }) => stacContracts.some((contract) => contract.id === id)),
      deps.version,
    ),
  );

  async function demandCollection({ params, caller }: CollectionRequest): Promise<StacCollection> {
    const viewer = viewerOf(caller);
    const collection = await findCollection(db, viewer, params.collection_id);
    if (collection !== undefined) return collection;
    const detail = `There is no collection "${params.collection_id}".`;
    throw notThere(viewer, "COLLECTION_NOT_FOUND", detail);
  }

  /** As above, where nobody asks what it covers. */
  async function checkCollection({ params, caller }: CollectionRequest): Promise<void> {
    const viewer = viewerOf(caller);
    if (await hasCollection(db, viewer, params.collection_id)) return;
    const detail = `There is no collection "${params.collection_id}".`;
    throw notThere(viewer, "COLLECTION_NOT_FOUND", detail);
  }

  async function demandItem({ params, caller }: ItemRequest) {
    const viewer = viewerOf(caller);
    const item = await findItem(db, viewer, params.collection_id, params.item_id);
    if (item !== undefined) return item;
    const detail = `"${params.collection_id}" has no item "${params.item_id}".`;
    throw notThere(viewer, "ITEM_NOT_FOUND", detail);
  }

  async function queryables(request: ApiRequest<Contract>, path: string, collectionId?: string) {
    const samples = await sampleProperties(db, viewerOf(request.caller), collectionId, sampled);
    const title = collectionId ?? "The catalogue";
    return new Answer(queryablesOf(`${baseOf(request)}${path}`, title, samples), {
      headers: schemaJson,
    });
  }

  return {
    stacLanding: async (request) => {
      const base = baseOf(request);
      const { collections } = await listCollections(db, viewerOf(request.caller), 1000, undefined);
      return {
        type: "Catalog",
        stac_version: stacVersion,
        id: "rmhdag",
        title: "rmhdagmaster",
        description: "Everything that the platform has made and catalogued.",
        conformsTo: [...conformance],
        links: [
          ...landingLinks(base),
          ...collections.map(({ id, title }) => ({
            rel: "child",
            href: `${base}/stac/collections/${id}`,
            type: "application/json",
            ...(title === undefined ? {} : { title }),
          })),
        ],
      };
    },

    stacConformance: async () => ({ conformsTo: [...conformance] }),
    stacApi: async () => new Answer(document(), { headers: openapi }),
    stacQueryables: (request) => queryables(request, "/stac/queryables"),

    stacCollections: async (request) => {
      const { limit, token } = request.query;
      const base = baseOf(request);
      const [after] = decodeCursor(token, z.tuple([z.string()])) ?? [];
      const { collections, next } = await listCollections(
        db,
        viewerOf(request.caller),
        limit,
        after,
      );
      const self = `${base}/stac/collections`;
      const more = next === null ? [] : [`${self}?limit=${limit}&token=${encodeCursor([next])}`];
      return {
        collections: collections.map((each) => linkCollection(each, base)),
        links: [
          { rel: "root", href: `${base}/stac`, type: "application/json" },
          { rel: "self", href: self, type: "application/json" },
          ...more.map((href) => ({ rel: "next", href, type: "application/json" })),
        ],
        numberReturned: collections.length,
      };
    },

    stacCollection: async (request) =>
      linkCollection(await demandCollection(request), baseOf(request)),

    stacCollectionQueryables: async (request) => {
      const { collection_id } = request.params;
      await checkCollection(request);
      return queryables(request, `/stac/collections/${collection_id}/queryables`, collection_id);
    },

    stacItems: async (request) => {
      const { collection_id } = request.params;
      await checkCollection(request);
      const found = await runSearch(db, viewerOf(request.caller), {
        request: { ...request.query, collections: [collection_id] },
        base: baseOf(request),
        path: `/stac/collections/${collection_id}/items`,
        method: "GET",
        given: request.query,
      });
      return new Answer(found, { headers: geojson });
    },

    stacItem: async (request) => {
      const item = linkItem(await demandItem(request), baseOf(request));
      return new Answer(item, { headers: geojson });
    },

    stacAsset: async (request) => {
      const { item_id, asset_key } = request.params;
      const item = await demandItem(request);
      const asset = Object.hasOwn(item.assets, asset_key) ? item.assets[asset_key] : undefined;
      const path = asset?.["rmhdag:path"];
      if (asset === undefined || path === undefined) {
        throw new Problem("ASSET_NOT_FOUND", `The item "${item_id}" has no file "${asset_key}".`);
      }
      return serveStored(storage, path, request, { contentType: asset.type });
    },

    stacSearch: async (request) => {
      const found = await runSearch(db, viewerOf(request.caller), {
        request: request.query,
        base: baseOf(request),
        path: "/stac/search",
        method: "GET",
        given: request.query,
      });
      return new Answer(found, { headers: geojson });
    },

    stacSearchPost: async (request) => {
      const found = await runSearch(db, viewerOf(request.caller), {
        request: request.body,
        base: baseOf(request),
        path: "/stac/search",
        method: "POST",
        given: request.body,
      });
      return new Answer(found, { headers: geojson });
    },
  };
}
