/**
 * Routes to the pictures and values of a layer, with the conventions of TiTiler. The same routes
 * exist below everything that names a layer (a catalogue item, an asset), so they are made for each
 * such place.
 */
import { z } from "zod";
import { pointValues, rasterInfo } from "../serving/raster-info.ts";
import { renderQuery } from "../serving/render-options.ts";
import { bandStatistics } from "../serving/statistics.ts";
import { tileJson } from "../serving/tilejson.ts";
import { defineContract } from "./contract.ts";
import type { LayerShape } from "./layer-shape.ts";
import { collectionParams, itemShape, layerErrors, tileParams } from "./layer-shape.ts";
import { integer, object, timestamp } from "./schemas.ts";

const tileSize = z
  .enum(["256", "512", "1024"])
  .transform(Number)
  .default(256)
  .describe("pixels a side: 256, 512 or 1024");

const pixels = integer(1, 2048);

const longitude = String.raw`-?(?:180(?:\.0*)?|(?:1[0-7]\d|\d{1,2})(?:\.\d*)?(?:[eE]-\d{1,3})?)`;
const latitude = String.raw`-?(?:90(?:\.0*)?|[1-8]?\d(?:\.\d*)?(?:[eE]-\d{1,3})?)`;

/** `lon,lat` */
const place = z
  .string()
  .regex(new RegExp(`^${longitude},${latitude}$`), "must be longitude,latitude in degrees")
  .transform((text) => {
    const [lon = NaN, lat = NaN] = text.split(",").map(Number);
    return { lon, lat };
  });

const day = 86_400;
const signedBody = z
  .strictObject({
    expires_in_seconds: z
      .number()
      .int()
      .min(60)
      .max(90 * day)
      .default(7 * day)
      .describe("a week if not given, 90 days at most"),
  })
  .prefault({});

const signedAddresses = z
  .object({
    expires_at: timestamp,
    tiles: z.string().describe("with {z}, {x} and {y}: for an XYZ or vector tile layer of QGIS"),
    tilejson: z.string(),
    style: z.string(),
    wmts: z.string(),
    features: z.string().nullable().describe("of a layer of features: its collection"),
    ogc: z
      .string()
      .nullable()
      .describe("of a layer of features: a landing page with this layer, for OGC API of QGIS"),
  })
  .meta({ id: "SignedAddresses" });

const whereBands = { bidx: renderQuery.bidx, nodata: renderQuery.nodata };
const errors = [...layerErrors, "COLLECTION_NOT_FOUND", "LAYER_UNREADABLE"] as const;

const areasBody = z
  .looseObject({ type: z.enum(["Feature", "FeatureCollection"]) })
  .describe("a GeoJSON feature or collection of features, each a polygon or several");
const areasAnswer = z
  .looseObject({ type: z.string() })
  .describe("as given; `properties.statistics` has the statistics of each band: b1, b2 …");

/**
 * The routes of everything that can be shown on a map. `family` goes into the names of the
 * operations; `base` is the path below which the routes are.
 */
function shownContracts<
  const Family extends string,
  Params extends z.ZodRawShape,
  Query extends z.ZodRawShape,
>(family: Family, base: string, { params, query, access }: LayerShape<Params, Query>) {
  const common = { method: "GET", access, errors } as const;
  return [
    defineContract({
      ...common,
      id: `get${family}Tile`,
      path: `${base}/tiles/WebMercatorQuad/{z}/{x}/{y}`,
      summary:
        "One tile. Format by extension or Accept; without either JPEG where nothing is transparent, and PNG elsewhere.",
      params: z.strictObject({ ...params, ...tileParams }),
      query: z.strictObject({ ...query, ...renderQuery, tilesize: tileSize }),
      response: z.string(),
      media: "image/png",
      types: ["image/png", "image/jpeg", "image/webp", "application/vnd.mapbox-vector-tile"],
      also: { 204: "Nothing is here.", 304: "As before." },
    }),
    defineContract({
      ...common,
      id: `get${family}TileJson`,
      path: `${base}/WebMercatorQuad/tilejson.json`,
      summary: "The layer as TileJSON; its tile addresses have the same query parameters.",
      params: z.strictObject(params),
      query: z.strictObject({ ...query, ...renderQuery, tilesize: tileSize }),
      response: z.union([tileJson, z.looseObject({ tilejson: z.string() })]),
    }),
    defineContract({
      ...common,
      id: `get${family}Style`,
      path: `${base}/style.json`,
      summary: "The layer as a style of MapLibre, with its tiles.",
      params: z.strictObject(params),
      query: z.strictObject({ ...query, ...renderQuery }),
      response: object,
    }),
    defineContract({
      ...common,
      id: `get${family}Wmts`,
      path: `${base}/WMTSCapabilities.xml`,
      summary: "The layer as a WMTS with RESTful addresses.",
      params: z.strictObject(params),
      query: z.strictObject({ ...query, ...renderQuery }),
      response: z.string(),
      media: "application/xml",
    }),
    defineContract({
      method: "POST",
      access: "read",
      errors: [...errors, "FORBIDDEN", "LAYER_NOT_FOUND", "SWITCHED_OFF"],
      id: `sign${family}Layer`,
      path: `${base}/signed-addresses`,
      summary: "Addresses of the layer that work without a token until a time, for QGIS.",
      params: z.strictObject(params),
      query: z.strictObject(query),
      body: signedBody,
      response: signedAddresses,
      status: 201,
    }),
    defineContract({
      ...common,
      id: `get${family}Point`,
      path: `${base}/point/{place}`,
      summary: "The values at longitude,latitude; null where there are no data.",
      params: z.strictObject({ ...params, place }),
      query: z.strictObject({ ...query, ...whereBands }),
      response: pointValues,
      errors: [...errors, "OUTSIDE_LAYER"],
    }),
    defineContract({
      ...common,
      id: `get${family}Map`,
      path: `${base}/map`,
      also: { 303: "a browser without a session signs in first" },
      summary: "The layer on a map, as a page, with the query parameters of its tiles.",
      params: z.strictObject(params),
      query: z.strictObject({ ...query, ...renderQuery }),
      response: z.string(),
      media: "text/html",
    }),
  ] as const;
}

/** Adds the routes that only a layer of one raster has. */
export function layerContracts<
  const Family extends string,
  Params extends z.ZodRawShape,
  Query extends z.ZodRawShape,
>(family: Family, base: string, shape: LayerShape<Params, Query>) {
  const { params, query, access } = shape;
  const common = { method: "GET", access, errors } as const;
  return [
    ...shownContracts(family, base, shape),
    defineContract({
      ...common,
      id: `get${family}Preview`,
      path: `${base}/preview`,
      summary: "The whole layer as one picture, in its own coordinate reference system.",
      params: z.strictObject(params),
      query: z.strictObject({
        ...query,
        ...renderQuery,
        max_size: pixels.prefault(1024),
        format: z.enum(["png", "webp", "jpg", "jpeg"]).optional(),
      }),
      response: z.string(),
      media: "image/png",
      types: ["image/png", "image/jpeg", "image/webp"],
      also: { 204: "The client is gone.", 304: "As before." },
    }),
    defineContract({
      ...common,
      id: `get${family}Statistics`,
      path: `${base}/statistics`,
      summary: "Statistics of each band, from at most max_size pixels a side.",
      params: z.strictObject(params),
      query: z.strictObject({ ...query, ...whereBands, max_size: pixels.prefault(1024) }),
      response: z.record(z.string(), bandStatistics),
    }),
    defineContract({
      ...common,
      method: "POST",
      id: `get${family}AreaStatistics`,
      path: `${base}/statistics`,
      summary:
        "Statistics of each band in GeoJSON polygons, each pixel weighted by its exact share; answers the features with `statistics` among their properties.",
      params: z.strictObject(params),
      query: z.strictObject({ ...query, ...whereBands }),
      body: areasBody,
      response: areasAnswer,
      types: ["application/geo+json"],
      bodyLimit: 1024 * 1024,
      errors: [...errors, "BAD_REQUEST"],
    }),
    defineContract({
      ...common,
      id: `get${family}Info`,
      path: `${base}/info`,
      summary: "The raster's size, bands, type and zooms.",
      params: z.strictObject(params),
      query: z.strictObject(query),
      response: rasterInfo,
    }),
  ] as const;
}

export const itemLayerContracts = layerContracts(
  "Item",
  "/stac/collections/{collection_id}/items/{item_id}",
  itemShape,
);

/** The rasters of a collection as one layer, the newest on top. */
export const collectionLayerContracts = shownContracts(
  "Collection",
  "/stac/collections/{collection_id}",
  { ...itemShape, params: collectionParams },
);

/** The files of the map page: scripts, a style and the outline of the land. */
const getMapFile = defineContract({
  id: "getMapFile",
  method: "GET",
  path: "/map/{file}",
  access: "public",
  summary: "A part of the map page.",
  params: z.strictObject({ file: z.string().max(64) }),
  response: z.string(),
  media: "text/javascript",
  types: ["text/javascript", "text/css", "application/geo+json"],
  also: { 304: "As before." },
  errors: ["NOT_FOUND"],
});

export const mapContracts = [getMapFile] as const;
