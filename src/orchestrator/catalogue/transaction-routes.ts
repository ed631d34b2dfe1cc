/**
 * Changes of the catalogue by curators. Items of the versions of assets are governed: their jobs write
 * them, and approval and clearance show them, so they are not changed here.
 */
import { baseOf } from "../../adapters/http/base-url.ts";
import type { ApiRequest, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  deleteCollection,
  deleteItem,
  upsertCollection,
  upsertItems,
} from "../../adapters/postgres/repositories/catalogue.ts";
import {
  demandFreeItem,
  demandNewCollection,
  demandNewItems,
} from "../../adapters/postgres/repositories/catalogue-changes.ts";
import { CatalogueError } from "../../adapters/postgres/repositories/catalogue-parts.ts";
import type { Contract } from "../../core/api/contract.ts";
import type { stacTransactionContracts } from "../../core/api/stac-transactions.ts";
import { linkCollection, linkItem } from "../../core/catalogue/links.ts";
import { mergePatch } from "../../core/catalogue/merge-patch.ts";
import { operators } from "../../core/catalogue/owner.ts";
import { readWrittenCollection, readWrittenItem } from "../../core/catalogue/read-written.ts";
import type { StacCollection, StacItem } from "../../core/catalogue/stac.ts";
import { errorCatalogue, Problem } from "../../core/errors.ts";
import type { ErrorCode } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import { requireCollection, requireItem, viewerOf } from "../layers/check-clearance.ts";

const geojson = { "content-type": "application/geo+json; charset=utf-8" };
const mostItems = 1000;

type Plain = Pick<ApiRequest<Contract>, "header" | "caller">;

export function transactionRoutes({
  db,
}: {
  readonly db: Database;
}): Handlers<typeof stacTransactionContracts> {
  const shown = (item: StacItem, request: Plain) =>
    linkItem(item, baseOf(request), viewerOf(request.caller));

  async function writeItem(
    stored: StacItem,
    given: JsonObject,
    request: Plain & { readonly params: { collection_id: string; item_id: string } },
  ) {
    const { collection_id, item_id } = request.params;
    const written = { base: baseOf(request), collection_id, item_id, stored };
    const item = readWrittenItem(given, written);
    // Without an owner in the answer, the item keeps its owner.
    await asProblem(
      upsertItems(db, collection_id, [item], undefined, (tx) => demandFreeItem(tx, stored)),
    );
    return new Answer(shown(item, request), { headers: geojson });
  }

  async function writeCollection(
    given: JsonObject,
    request: Plain & { readonly params: { collection_id: string } },
  ): Promise<StacCollection> {
    const { collection_id } = request.params;
    const base = baseOf(request);
    await asProblem(upsertCollection(db, readWrittenCollection(given, { base, collection_id })));
    return linkCollection(await requireCollection(db, request), base);
  }

  return {
    stacCreateCollection: async (request) => {
      const base = baseOf(request);
      const collection = readWrittenCollection(request.body, { base });
      await asProblem(
        upsertCollection(db, collection, operators, (tx) => demandNewCollection(tx, collection.id)),
      );
      const made = linkCollection(collection, base);
      return new Answer(made, { headers: { location: `${base}/stac/collections/${made.id}` } });
    },

    stacReplaceCollection: async (request) => {
      await requireCollection(db, request);
      return writeCollection(request.body, request);
    },

    stacPatchCollection: async (request) => {
      const stored = await requireCollection(db, request);
      const given = mergePatch(stored as unknown as JsonObject, request.body) as JsonObject;
      return writeCollection(given, request);
    },

    stacDeleteCollection: async (request) => {
      await requireCollection(db, request);
      await asProblem(deleteCollection(db, request.params.collection_id));
      return new Answer(undefined, { status: 204 });
    },

    stacCreateItems: async (request) => {
      const { collection_id } = request.params;
      const base = baseOf(request);
      const { body } = request;
      const isMany = body["type"] === "FeatureCollection";
      const given = isMany ? body["features"] : [body];
      if (!Array.isArray(given) || given.length > mostItems || !given.every(isJsonObject)) {
        throw new Problem("BAD_REQUEST", `features must be a list of at most ${mostItems} items.`);
      }
      const items = given.map((each) => readWrittenItem(each, { base, collection_id }));
      const ids = items.map(({ id }) => id);
      await asProblem(
        upsertItems(db, collection_id, items, operators, (tx) =>
          demandNewItems(tx, collection_id, ids),
        ),
      );
      const features = items.map((item) => shown(item, request));
      const [first] = features;
      if (isMany || first === undefined) {
        return new Answer({ type: "FeatureCollection", features }, { headers: geojson });
      }
      const location = `${base}/stac/collections/${collection_id}/items/${first.id}`;
      return new Answer(first, { headers: { ...geojson, location } });
    },

    stacReplaceItem: async (request) =>
      writeItem(await requireItem(db, request), request.body, request),

    stacPatchItem: async (request) => {
      const stored = await requireItem(db, request);
      const given = mergePatch(stored as unknown as JsonObject, request.body) as JsonObject;
      return writeItem(stored, given, request);
    },

    stacDeleteItem: async (request) => {
      const stored = await requireItem(db, request);
      await asProblem(
        deleteItem(db, stored.collection, stored.id, (tx) => demandFreeItem(tx, stored)),
      );
      return new Answer(undefined, { status: 204 });
    },
  };
}

/** The refusals of the catalogue's writers have codes of the API. */
async function asProblem<Result>(writing: Promise<Result>): Promise<Result> {
  try {
    return await writing;
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    const code: ErrorCode = Object.hasOwn(errorCatalogue, error.code)
      ? (error.code as ErrorCode)
      : error.category === "transient"
        ? "UNAVAILABLE"
        : "BAD_REQUEST";
    throw new Problem(code, error.message);
  }
}
