/** Changes of the catalogue by curators: the transaction extensions of the STAC API. */
import { z } from "zod";
import { stacCollection, stacItem } from "../catalogue/stac.ts";
import { defineContract, inputsBodyLimit } from "./contract.ts";
import { object } from "./schemas.ts";

const id = z.string().min(1).max(255);
const collectionParams = z.object({ collection_id: id });
const itemParams = collectionParams.extend({ item_id: id });

const common = { access: "curate" } as const;
const change = ["BAD_REQUEST", "COLLECTION_NOT_FOUND", "EDIT_CONFLICT", "UNAVAILABLE"] as const;
const changeItem = [...change, "ITEM_NOT_FOUND", "ITEM_GOVERNED"] as const;
const document = { body: object, bodyLimit: inputsBodyLimit } as const;
const collection = { path: "/stac/collections/{collection_id}", params: collectionParams } as const;
const item = {
  path: "/stac/collections/{collection_id}/items/{item_id}",
  params: itemParams,
} as const;

export const stacTransactionContracts = [
  defineContract({
    ...common,
    ...document,
    id: "stacCreateCollection",
    method: "POST",
    path: "/stac/collections",
    summary: "Create a collection; its extent is computed from its items.",
    response: stacCollection,
    status: 201,
    errors: ["BAD_REQUEST", "COLLECTION_EXISTS", "UNAVAILABLE"],
  }),
  defineContract({
    ...common,
    ...document,
    ...collection,
    id: "stacReplaceCollection",
    method: "PUT",
    summary: "Replace the description of a collection; its items stay.",
    response: stacCollection,
    errors: change,
  }),
  defineContract({
    ...common,
    ...document,
    ...collection,
    id: "stacPatchCollection",
    method: "PATCH",
    summary: "Change members of a collection (RFC 7386).",
    response: stacCollection,
    errors: change,
  }),
  defineContract({
    ...common,
    ...collection,
    id: "stacDeleteCollection",
    method: "DELETE",
    summary: "Delete a collection without items.",
    response: z.undefined(),
    status: 204,
    errors: [...change, "COLLECTION_NOT_EMPTY"],
  }),
  defineContract({
    ...common,
    ...document,
    id: "stacCreateItems",
    method: "POST",
    path: "/stac/collections/{collection_id}/items",
    params: collectionParams,
    summary: "Add an item, or all items of a FeatureCollection or none.",
    response: z.union([stacItem, object]),
    types: ["application/geo+json"],
    status: 201,
    errors: [...change, "ITEM_EXISTS"],
  }),
  defineContract({
    ...common,
    ...document,
    ...item,
    id: "stacReplaceItem",
    method: "PUT",
    summary: "Replace an item.",
    response: stacItem,
    types: ["application/geo+json"],
    errors: changeItem,
  }),
  defineContract({
    ...common,
    ...document,
    ...item,
    id: "stacPatchItem",
    method: "PATCH",
    summary: "Change members of an item (RFC 7386).",
    response: stacItem,
    types: ["application/geo+json"],
    errors: changeItem,
  }),
  defineContract({
    ...common,
    ...item,
    id: "stacDeleteItem",
    method: "DELETE",
    summary: "Delete an item; the files and tables that it names stay.",
    response: z.undefined(),
    status: 204,
    errors: changeItem,
  }),
] as const;
