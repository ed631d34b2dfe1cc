import type { Readable } from "node:stream";
import { z } from "zod";
import { baseOf } from "../../adapters/http/base-url.ts";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { ApiRequest, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  listCollections,
  sampleProperties,
} from "../../adapters/postgres/queries/catalogue-collections.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { Contract } from "../../core/api/contract.ts";
import { contracts } from "../../core/api/index.ts";
import { makeOpenApi } from "../../core/api/openapi.ts";
import { stacContracts } from "../../core/api/stac.ts";
import type { storageContracts } from "../../core/api/storage.ts";
import {
  conformance,
  landingLinks,
  linkCollection,
  linkItem,
  nextLink,
} from "../../core/catalogue/links.ts";
import { queryablesOf } from "../../core/catalogue/queryables.ts";
import { stacVersion } from "../../core/catalogue/stac.ts";
import { Problem } from "../../core/errors.ts";
import { once } from "../../core/once.ts";
import {
  checkCollection,
  requireCollection,
  requireItem,
  viewerOf,
} from "../layers/check-clearance.ts";
import { findCollections } from "./find-collections.ts";
import { searchCatalogue } from "./search-catalogue.ts";
import { serveStored } from "./serve-stored.ts";
import { writeStored } from "./write-stored.ts";

/** What a worker may put with one request. */
const largestPut = 64 * 1024 ** 3;

export interface CatalogueRouteDeps {
  readonly db: Database;
  readonly storage: Storage;
  readonly version: string;
}

const geojson = { "content-type": "application/geo+json; charset=utf-8" };
const schemaJson = { "content-type": "application/schema+json; charset=utf-8" };
const openapi = { "content-type": "application/vnd.oai.openapi+json;version=3.1" };

/** Items that are read to find the properties which queries may name. */
const sampleSize = 200;

/** The STAC API, and the files of storage by signed links. */
export function catalogueRoutes({
  db,
  storage,
  version,
}: CatalogueRouteDeps): Handlers<typeof stacContracts> & Handlers<typeof storageContracts> {
  const documented = new Set<string>(stacContracts.map(({ path }) => path));
  const document = once(() =>
    makeOpenApi(
      contracts.filter(({ path }) => documented.has(path)),
      version,
    ),
  );

  async function queryables(request: ApiRequest<Contract>, path: string, collectionId?: string) {
    const samples = await sampleProperties(db, viewerOf(request.caller), collectionId, sampleSize);
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
      const { limit, token, ...search } = request.query;
      const base = baseOf(request);
      const [after] = decodeCursor(token, z.tuple([z.string()])) ?? [];
      const viewer = viewerOf(request.caller);
      const { collections, next } = await findCollections(db, viewer, { limit, after, search });
      const self = `${base}/stac/collections`;
      const more = next === null ? [] : [encodeCursor([next])];
      return {
        collections: collections.map((each) => linkCollection(each, base)),
        links: [
          { rel: "root", href: `${base}/stac`, type: "application/json" },
          { rel: "self", href: self, type: "application/json" },
          ...more.map((place) => ({
            ...nextLink(self, { method: "GET", given: { limit, ...search } }, place),
            type: "application/json",
          })),
        ],
        numberReturned: collections.length,
      };
    },

    stacCollection: async (request) =>
      linkCollection(await requireCollection(db, request), baseOf(request)),

    stacCollectionQueryables: async (request) => {
      const { collection_id } = request.params;
      await checkCollection(db, request);
      return queryables(request, `/stac/collections/${collection_id}/queryables`, collection_id);
    },

    stacItems: async (request) => {
      const { collection_id } = request.params;
      await checkCollection(db, request);
      const found = await searchCatalogue(db, viewerOf(request.caller), {
        request: { ...request.query, collections: [collection_id] },
        base: baseOf(request),
        path: `/stac/collections/${collection_id}/items`,
        method: "GET",
        given: request.query,
      });
      return new Answer(found, { headers: geojson });
    },

    stacItem: async (request) => {
      const viewer = viewerOf(request.caller);
      const item = linkItem(await requireItem(db, request), baseOf(request), viewer);
      return new Answer(item, { headers: geojson });
    },

    stacAsset: async (request) => {
      const { item_id, asset_key } = request.params;
      const item = await requireItem(db, request);
      const asset = Object.hasOwn(item.assets, asset_key) ? item.assets[asset_key] : undefined;
      const path = asset?.["rmhdag:path"];
      if (asset === undefined || path === undefined) {
        throw new Problem("ASSET_NOT_FOUND", `The item "${item_id}" has no file "${asset_key}".`);
      }
      return serveStored(storage, path, request, { contentType: asset.type });
    },

    stacSearch: async (request) => {
      const found = await searchCatalogue(db, viewerOf(request.caller), {
        request: request.query,
        base: baseOf(request),
        path: "/stac/search",
        method: "GET",
        given: request.query,
      });
      return new Answer(found, { headers: geojson });
    },

    stacSearchPost: async (request) => {
      const found = await searchCatalogue(db, viewerOf(request.caller), {
        request: request.body,
        base: baseOf(request),
        path: "/stac/search",
        method: "POST",
        given: request.body,
      });
      return new Answer(found, { headers: geojson });
    },

    readStored: async (request) => {
      const { path } = request.params;
      if (!(await storage.checkSignature(path, request.query))) {
        throw new Problem("LINK_NOT_VALID", "The link was changed, or its time is over.");
      }
      return serveStored(storage, path, request);
    },

    writeStored: async (request) => {
      const { path } = request.params;
      if (!(await storage.checkSignature(path, { ...request.query, method: "PUT" }))) {
        throw new Problem("LINK_NOT_VALID", "The link was changed, or its time is over.");
      }
      const { signal } = request;
      return writeStored(storage, path, request.body as Readable, { maxBytes: largestPut, signal });
    },
  };
}
