/**
 * Routes to the features of a vector layer, as in OGC API Features and with the conventions of
 * TiPG. Like the routes of tiles they are made for each place below which a layer is found: a
 * catalogue item, or an asset.
 */
import { z } from "zod";
import { itemsQuery } from "../serving/vector-items.ts";
import { defineContract } from "./contract.ts";
import type { LayerShape } from "./layer-shape.ts";
import { itemShape, layerErrors, tileParams } from "./layer-shape.ts";
import { integer, object } from "./schemas.ts";

/** `base` is the path of the collection itself. */
export function featureContracts<
  const Family extends string,
  Params extends z.ZodRawShape,
  Query extends z.ZodRawShape,
>(family: Family, base: string, { params, query, access }: LayerShape<Params, Query>) {
  const common = { method: "GET", access, errors: layerErrors } as const;
  return [
    defineContract({
      ...common,
      id: `get${family}Features`,
      path: base,
      summary: "The layer as a collection of features.",
      params: z.strictObject(params),
      query: z.strictObject(query),
      response: object,
    }),
    defineContract({
      ...common,
      id: `get${family}Queryables`,
      path: `${base}/queryables`,
      summary: "The columns that can be filtered by, as a JSON schema.",
      params: z.strictObject(params),
      query: z.strictObject(query),
      response: object,
      media: "application/schema+json",
    }),
    defineContract({
      ...common,
      id: `list${family}Features`,
      path: `${base}/items`,
      summary: "Features; any column can be given with the value that it must have.",
      params: z.strictObject(params),
      query: z.looseObject({ ...query, ...itemsQuery }),
      response: z.string(),
      media: "application/geo+json",
      types: ["application/geo+json", "text/csv"],
      also: { 304: "As before." },
      errors: [...layerErrors, "INVALID_FILTER"],
    }),
    defineContract({
      ...common,
      id: `get${family}Feature`,
      path: `${base}/items/{feature_id}`,
      summary: "One feature.",
      params: z.strictObject({ ...params, feature_id: integer(0, Number.MAX_SAFE_INTEGER) }),
      query: z.strictObject(query),
      response: z.string(),
      media: "application/geo+json",
      also: { 304: "As before." },
    }),
    defineContract({
      ...common,
      id: `list${family}TileSets`,
      path: `${base}/tiles`,
      summary: "The sets of vector tiles of the layer, as OGC API Tiles lists them.",
      params: z.strictObject(params),
      query: z.strictObject(query),
      response: object,
    }),
    defineContract({
      ...common,
      id: `get${family}TileSet`,
      path: `${base}/tiles/WebMercatorQuad`,
      summary: "The set of vector tiles, with the template of their addresses.",
      params: z.strictObject(params),
      query: z.strictObject(query),
      response: object,
    }),
    defineContract({
      ...common,
      id: `get${family}FeatureTile`,
      path: `${base}/tiles/WebMercatorQuad/{z}/{x}/{y}`,
      summary: "One vector tile (MVT) with the layer `default`.",
      params: z.strictObject({ ...params, ...tileParams }),
      query: z.strictObject(query),
      response: z.string(),
      media: "application/vnd.mapbox-vector-tile",
      also: { 204: "Nothing is here.", 304: "As before." },
    }),
    defineContract({
      ...common,
      id: `get${family}FeatureTileJson`,
      path: `${base}/tiles/WebMercatorQuad/tilejson.json`,
      summary: "The vector tiles as TileJSON.",
      params: z.strictObject(params),
      query: z.strictObject(query),
      response: z.looseObject({ tilejson: z.string() }),
    }),
  ] as const;
}

export const itemFeatureContracts = featureContracts(
  "Item",
  "/stac/collections/{collection_id}/items/{item_id}/features",
  itemShape,
);
