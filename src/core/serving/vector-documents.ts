/** The documents that describe a layer of features: collection, queryables, TileJSON. */
import type { Json, JsonObject } from "../model/json.ts";
import type { GeoColumn, GeometryType } from "../vector/geo-table.ts";
import type { VectorLayer } from "./layer.ts";
import type { TileJson } from "./tilejson.ts";
import { makeTileJson } from "./tilejson.ts";

export interface DescribedTable {
  readonly geometry_type: GeometryType;
  readonly columns: readonly GeoColumn[];
  readonly feature_count: number;
}

/** Finer tiles would show nothing new: a unit is a centimetre at zoom 14. */
export const mostVectorZoom = 14;
export const layerName = "default";
const crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";

const types: Readonly<Record<GeoColumn["type"], JsonObject>> = {
  text: { type: "string" },
  boolean: { type: "boolean" },
  integer: { type: "integer" },
  bigint: { type: "integer" },
  "double precision": { type: "number" },
  date: { type: "string", format: "date" },
  time: { type: "string", format: "time" },
  timestamptz: { type: "string", format: "date-time" },
  jsonb: {},
  bytea: { type: "string", contentEncoding: "base64" },
  "text[]": { type: "array", items: { type: "string" } },
  "integer[]": { type: "array", items: { type: "integer" } },
  "bigint[]": { type: "array", items: { type: "integer" } },
  "double precision[]": { type: "array", items: { type: "number" } },
};

/** `id` names the layer in `address`, which is that of the collection itself. */
export function collectionDocument(
  layer: VectorLayer,
  table: DescribedTable,
  { id, address }: { readonly id: string; readonly address: string },
): JsonObject {
  const link = (rel: string, path: string, type: string, title: string) => ({
    rel,
    type,
    title,
    href: address + path,
  });
  return {
    id,
    title: layer.title,
    itemType: "feature",
    crs: [crs84],
    extent: { spatial: { bbox: [[...layer.bounds]], crs: crs84 } },
    geometrytype: table.geometry_type,
    numberMatched: table.feature_count,
    links: [
      link("self", "", "application/json", layer.title),
      link("items", "/items", "application/geo+json", "The features"),
      link(
        "http://www.opengis.net/def/rel/ogc/1.0/queryables",
        "/queryables",
        "application/schema+json",
        "What can be filtered by",
      ),
      link(
        "http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector",
        "/tiles",
        "application/json",
        "Vector tiles",
      ),
      link("describedby", "/tiles/WebMercatorQuad/tilejson.json", "application/json", "TileJSON"),
    ],
  };
}

export function queryablesDocument(
  layer: VectorLayer,
  { columns, geometry_type }: DescribedTable,
  address: string,
): JsonObject {
  const properties: [string, Json][] = [
    ["geom", { $ref: `https://geojson.org/schema/${geometry_type}.json` }],
    ...columns.map(({ name, type, source }): [string, Json] => [
      name,
      { title: source, ...types[type] },
    ]),
  ];
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `${address}/queryables`,
    type: "object",
    title: layer.title,
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

/** `address` is that of the tiles, with {z}, {x} and {y}. */
export function vectorTileJson(
  layer: VectorLayer,
  { columns }: DescribedTable,
  address: string,
): TileJson & { readonly vector_layers: Json } {
  const { title, bounds } = layer;
  return {
    ...makeTileJson({ title, address, bounds, minZoom: 0, maxZoom: mostVectorZoom }),
    vector_layers: [
      {
        id: layerName,
        minzoom: 0,
        maxzoom: mostVectorZoom,
        fields: Object.fromEntries(columns.map(({ name, type }) => [name, type])),
      },
    ],
  };
}
