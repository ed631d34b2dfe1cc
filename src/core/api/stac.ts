/**
 * The catalogue as a STAC API 1.0, with OGC API Features below each collection. Every route is
 * public, because some items are: each answer holds only the items that its caller may see.
 */
import { z } from "zod";
import { stacCollection, stacItem } from "../catalogue/stac.ts";
import type { Json } from "../model/json.ts";
import { defineContract } from "./contract.ts";
import { count, integer, json, object } from "./schemas.ts";

const id = z.string().min(1).max(255);
const collectionParams = z.object({ collection_id: id });
const itemParams = collectionParams.extend({ item_id: id });
const token = z.string().max(4096).describe("of the `next` link of the page before");
/** A larger number is no mistake: OGC API Features wants the most that the server gives. */
const clamped = (most: number, usual: number) =>
  integer(1, Number.MAX_SAFE_INTEGER)
    .prefault(usual)
    .transform((wanted) => Math.min(wanted, most));
const limit = clamped(10_000, 10).describe("how many items at most; 10,000 if more are asked for");

const stacLink = z.looseObject({ rel: z.string(), href: z.string() });
const links = z.array(stacLink);

/** Items may lack the fields that the fields extension left out. */
const itemCollection = z
  .looseObject({
    type: z.literal("FeatureCollection"),
    features: z.array(object),
    links,
    numberReturned: count,
    numberMatched: count.optional().describe("left out where counting would take too long"),
  })
  .meta({ id: "StacItemCollection" });

/** In an address a list is written with commas. */
const list = z
  .string()
  .min(1)
  .transform((text) => text.split(","))
  .pipe(z.array(id).max(1000));
const number = String.raw`\s*[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][+-]?\d{1,2})?\s*`;
const numbers = z
  .string()
  .regex(
    new RegExp(`^${number}(?:,${number}){3}(?:(?:,${number}){2})?$`),
    "must be four or six numbers",
  )
  .transform((text) => text.split(",").map(Number))
  .pipe(z.array(z.number()).min(4).max(6));
const parsed = z
  .string()
  .max(16_384)
  .transform((text, context): Json => {
    try {
      return JSON.parse(text) as Json;
    } catch {
      context.addIssue({ code: "custom", message: "must be JSON" });
      return z.NEVER;
    }
  });

const language = z.enum(["cql2-text", "cql2-json"]);
const crs84 = z.literal("http://www.opengis.net/def/crs/OGC/1.3/CRS84");

const searchQuery = {
  limit,
  bbox: numbers.optional().describe("west,south,east,north; west > east crosses the antimeridian"),
  datetime: z.string().max(128).optional().describe("a time, or a span start/end; .. is open"),
  filter: z.string().max(16_384).optional().describe("CQL2"),
  "filter-lang": language.optional(),
  "filter-crs": crs84.optional(),
  query: parsed.optional().describe('JSON: {"property": {"lt": 10}}'),
  sortby: z.string().max(1024).optional().describe("-properties.datetime,+id"),
  fields: z.string().max(2048).optional().describe("id,properties.datetime,-geometry"),
  token: token.optional(),
  collections: list.optional(),
  ids: list.optional(),
  intersects: parsed.optional().describe("a GeoJSON geometry"),
};

/** Clients send one id as a text too. */
const oneOrMany = z
  .union([z.array(id).max(1000), id])
  .transform((given) => (typeof given === "string" ? [given] : given));
const fieldNames = z.array(z.string().max(255)).max(200).nullish();

const searchBody = z
  .object({
    limit: z
      .number()
      .int()
      .min(1)
      .default(10)
      .transform((wanted) => Math.min(wanted, 10_000)),
    bbox: z.array(z.number()).min(4).max(6).optional(),
    datetime: z.string().max(128).optional(),
    collections: oneOrMany.optional(),
    ids: oneOrMany.optional(),
    intersects: json.optional(),
    query: json.optional(),
    filter: json.optional(),
    "filter-lang": language.optional(),
    "filter-crs": crs84.optional(),
    sortby: z
      .array(z.object({ field: z.string().min(1).max(255), direction: z.enum(["asc", "desc"]) }))
      .max(10)
      .optional(),
    fields: z
      .strictObject({
        include: fieldNames,
        exclude: fieldNames.transform((names) => names ?? []),
      })
      .optional(),
    token: token.optional(),
  })
  .meta({ id: "StacSearch" });

const searchErrors = ["BAD_REQUEST", "INVALID_FILTER", "UNAVAILABLE"] as const;

export const stacContracts = [
  defineContract({
    id: "stacLanding",
    method: "GET",
    path: "/stac",
    access: "public",
    summary: "The landing page of the catalogue, with its conformance and links.",
    response: z.looseObject({ type: z.literal("Catalog"), links }).meta({ id: "StacCatalog" }),
    errors: ["UNAVAILABLE"],
  }),
  defineContract({
    id: "stacConformance",
    method: "GET",
    path: "/stac/conformance",
    access: "public",
    summary: "The parts of STAC and OGC API Features that the catalogue follows.",
    response: z.object({ conformsTo: z.array(z.string()) }),
    errors: ["UNAVAILABLE"],
  }),
  defineContract({
    id: "stacApi",
    method: "GET",
    path: "/stac/api",
    access: "public",
    summary: "This API as an OpenAPI document.",
    response: object,
    types: ["application/vnd.oai.openapi+json;version=3.1"],
    errors: ["UNAVAILABLE"],
  }),
  defineContract({
    id: "stacQueryables",
    method: "GET",
    path: "/stac/queryables",
    access: "public",
    summary: "The properties that items can be filtered by.",
    response: object,
    types: ["application/schema+json"],
    errors: ["UNAVAILABLE"],
  }),
  defineContract({
    id: "stacCollections",
    method: "GET",
    path: "/stac/collections",
    access: "public",
    summary: "Collections by their names, all of them or those that match.",
    // Clients send the parameters of extensions that a server may not have.
    query: z.object({
      limit: clamped(1000, 100),
      token: token.optional(),
      bbox: searchQuery.bbox,
      datetime: searchQuery.datetime,
      q: z
        .string()
        .max(1024)
        .optional()
        .describe("words in id, title, description or keywords; commas mean or"),
    }),
    response: z.object({
      collections: z.array(stacCollection.meta({ id: "StacCollection" })),
      links,
      numberReturned: count,
    }),
    errors: ["BAD_REQUEST"],
  }),
  defineContract({
    id: "stacCollection",
    method: "GET",
    path: "/stac/collections/{collection_id}",
    access: "public",
    summary: "One collection, with the space and time that its items cover.",
    params: collectionParams,
    response: stacCollection,
    errors: ["UNAUTHENTICATED", "COLLECTION_NOT_FOUND"],
  }),
  defineContract({
    id: "stacCollectionQueryables",
    method: "GET",
    path: "/stac/collections/{collection_id}/queryables",
    access: "public",
    summary: "The properties that the items of a collection can be filtered by.",
    params: collectionParams,
    response: object,
    types: ["application/schema+json"],
    errors: ["UNAUTHENTICATED", "COLLECTION_NOT_FOUND"],
  }),
  defineContract({
    id: "stacItems",
    method: "GET",
    path: "/stac/collections/{collection_id}/items",
    access: "public",
    summary: "Items of a collection, the newest first unless asked otherwise.",
    params: collectionParams,
    // Accepts the whole search, because clients send the collection's name here as well.
    query: z.object(searchQuery),
    response: itemCollection,
    types: ["application/geo+json"],
    errors: ["UNAUTHENTICATED", "COLLECTION_NOT_FOUND", ...searchErrors],
  }),
  defineContract({
    id: "stacItem",
    method: "GET",
    path: "/stac/collections/{collection_id}/items/{item_id}",
    access: "public",
    summary: "One item.",
    params: itemParams,
    response: stacItem.meta({ id: "StacItem" }),
    types: ["application/geo+json"],
    errors: ["UNAUTHENTICATED", "ITEM_NOT_FOUND"],
  }),
  defineContract({
    id: "stacAsset",
    method: "GET",
    path: "/stac/collections/{collection_id}/items/{item_id}/assets/{asset_key}",
    access: "public",
    summary: "A file of an item; GDAL and QGIS read parts of it by Range.",
    params: itemParams.extend({ asset_key: id }),
    response: z.unknown(),
    media: "application/octet-stream",
    also: { 206: "a part of the file", 304: "the file is still the same" },
    types: ["*/*"],
    errors: ["UNAUTHENTICATED", "ITEM_NOT_FOUND", "ASSET_NOT_FOUND", "RANGE_NOT_SATISFIABLE"],
  }),
  defineContract({
    id: "stacSearch",
    method: "GET",
    path: "/stac/search",
    access: "public",
    summary: "Search the items of all collections.",
    query: z.object(searchQuery),
    response: itemCollection,
    types: ["application/geo+json"],
    errors: [...searchErrors],
  }),
  defineContract({
    id: "stacSearchPost",
    method: "POST",
    path: "/stac/search",
    access: "public",
    summary: "The same search with a body.",
    body: searchBody,
    response: itemCollection,
    types: ["application/geo+json"],
    // A geometry may have thousands of positions.
    bodyLimit: 512 * 1024,
    errors: [...searchErrors],
  }),
] as const;
