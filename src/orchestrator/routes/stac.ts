import type { ApiRequest, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import {
  findCollection,
  listCollections,
  sampleProperties,
} from "../../adapters/postgres/queries/catalogue-collections.ts";
import { findItem } from "../../adapters/postgres/queries/catalogue-items.ts";
import { baseOf } from "./stac-base.ts";
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
import type { RouteDeps } from "./deps.ts";
import { serveStored } from "./serve-stored.ts";
import { runSearch } from "./stac-search.ts";

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

  async function demandCollection(collectionId: string): Promise<StacCollection> {
    const collection = await findCollection(db, collectionId);
    if (collection !== undefined) return collection;
    throw new Problem("COLLECTION_NOT_FOUND", `There is no collection "${collectionId}".`);
  }

  async function demandItem(collectionId: string, itemId: string) {
    const item = await findItem(db, collectionId, itemId);
    if (item !== undefined) return item;
    throw new Problem("ITEM_NOT_FOUND", `"${collectionId}" has no item "${itemId}".`);
  }

  async function queryables(request: ApiRequest<Contract>, path: string, collectionId?: string) {
    const samples = await sampleProperties(db, collectionId, sampled);
    const title = collectionId ?? "The catalogue";
    return new Answer(queryablesOf(`${baseOf(request)}${path}`, title, samples), {
      headers: schemaJson,
    });
  }

  return {
    stacLanding: async (request) => {
      const base = baseOf(request);
      const { collections } = await listCollections(db, 1000, undefined);
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
      const { collections, next } = await listCollections(db, limit, after);
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
      linkCollection(await demandCollection(request.params.collection_id), baseOf(request)),

    stacCollectionQueryables: async (request) => {
      const { collection_id } = request.params;
      await demandCollection(collection_id);
      return queryables(request, `/stac/collections/${collection_id}/queryables`, collection_id);
    },

    stacItems: async (request) => {
      const { collection_id } = request.params;
      await demandCollection(collection_id);
      const found = await runSearch(db, {
        request: { ...request.query, collections: [collection_id] },
        base: baseOf(request),
        path: `/stac/collections/${collection_id}/items`,
        method: "GET",
        given: request.query,
      });
      return new Answer(found, { headers: geojson });
    },

    stacItem: async (request) => {
      const { collection_id, item_id } = request.params;
      const item = linkItem(await demandItem(collection_id, item_id), baseOf(request));
      return new Answer(item, { headers: geojson });
    },

    stacAsset: async (request) => {
      const { collection_id, item_id, asset_key } = request.params;
      const item = await demandItem(collection_id, item_id);
      const asset = Object.hasOwn(item.assets, asset_key) ? item.assets[asset_key] : undefined;
      const path = asset?.["rmhdag:path"];
      if (asset === undefined || path === undefined) {
        throw new Problem("ASSET_NOT_FOUND", `The item "${item_id}" has no file "${asset_key}".`);
      }
      return serveStored(storage, path, request, { contentType: asset.type });
    },

    stacSearch: async (request) => {
      const found = await runSearch(db, {
        request: request.query,
        base: baseOf(request),
        path: "/stac/search",
        method: "GET",
        given: request.query,
      });
      return new Answer(found, { headers: geojson });
    },

    stacSearchPost: async (request) => {
      const found = await runSearch(db, {
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
