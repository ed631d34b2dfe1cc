/**
 * The documents of OGC API – Features and Tiles that lead a client from one address to every vector
 * layer: landing page, conformance, collections, sets of tiles.
 */
import type { JsonObject } from "../model/json.ts";
import type { VectorLayer } from "./layer.ts";
import { matrixSetName, matrixSetUri, webMercatorUri } from "./tile-matrix-set.ts";
import type { DescribedTable } from "./vector-documents.ts";
import { mostVectorZoom } from "./vector-documents.ts";

const json = "application/json";
const ogcRel = (name: string) => `http://www.opengis.net/def/rel/ogc/1.0/${name}`;

/** The name of a vector layer in addresses: ids of the catalogue have no colon. */
export function layerIdOf(item: { readonly collection: string; readonly id: string }): string {
  return `${item.collection}:${item.id}`;
}

/** Undefined: the text names no layer. */
export function itemOfLayerId(
  layerId: string,
): { readonly collection_id: string; readonly item_id: string } | undefined {
  const [collection_id = "", item_id = "", ...more] = layerId.split(":");
  if (collection_id === "" || item_id === "" || more.length > 0) return undefined;
  return { collection_id, item_id };
}

export const ogcConformance = [
  "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
  "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/landing-page",
  "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/json",
  "http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
  "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
  "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
  "http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables",
  "http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/filter",
  "http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/features-filter",
  "http://www.opengis.net/spec/cql2/1.0/conf/cql2-text",
  "http://www.opengis.net/spec/cql2/1.0/conf/cql2-json",
  "http://www.opengis.net/spec/cql2/1.0/conf/basic-cql2",
  "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/core",
  "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/tileset",
  "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/tilesets-list",
  "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/geodata-tilesets",
  "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/mvt",
  "http://www.opengis.net/spec/tms/2.0/conf/json-tilematrixset",
] as const;

export function ogcLanding(base: string): JsonObject {
  const at = `${base}/ogc`;
  const link = (rel: string, path: string, type: string, title: string) => ({
    rel,
    type,
    title,
    href: `${at}${path}`,
  });
  return {
    title: "rmhdagmaster",
    description: "The vector layers of the platform.",
    links: [
      link("self", "", json, "This page"),
      link("service-desc", "/api", "application/vnd.oai.openapi+json;version=3.1", "The API"),
      { rel: "service-doc", type: "text/html", title: "The API", href: `${base}/api/v1/docs` },
      link("conformance", "/conformance", json, "Standards that are followed"),
      link(ogcRel("conformance"), "/conformance", json, "Standards that are followed"),
      link("data", "/collections", json, "The vector layers"),
      link(ogcRel("data"), "/collections", json, "The vector layers"),
      link(ogcRel("tiling-schemes"), "/tileMatrixSets", json, "Tile matrix sets"),
      { rel: "related", type: json, title: "The catalogue (STAC)", href: `${base}/stac` },
    ],
  };
}

export function matrixSetsDocument(base: string): JsonObject {
  const self = { rel: "self", type: json, href: `${base}/ogc/tileMatrixSets/${matrixSetName}` };
  return { tileMatrixSets: [{ id: matrixSetName, uri: matrixSetUri, links: [self] }] };
}

/** `address` is that of the collection; `scheme` that of the tile matrix sets. */
export interface TileSetPlace {
  readonly address: string;
  readonly base: string;
  /** The query that the address of every tile needs. */
  readonly query: string;
}

export function tileSetsDocument(layer: VectorLayer, place: TileSetPlace): JsonObject {
  const { address } = place;
  return {
    links: [{ rel: "self", type: json, href: `${address}/tiles${place.query}` }],
    tilesets: [describeTileSet(layer, place)],
  };
}

export function tileSetDocument(
  layer: VectorLayer,
  { columns, geometry_type }: DescribedTable,
  place: TileSetPlace,
): JsonObject {
  const [west, south, east, north] = layer.bounds;
  return {
    ...describeTileSet(layer, place),
    boundingBox: {
      lowerLeft: [west, south],
      upperRight: [east, north],
      crs: "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
    },
    tileMatrixSetLimits: [],
    layers: [
      {
        id: "default",
        dataType: "vector",
        geometryDimension: dimensions[geometry_type] ?? null,
        minTileMatrix: "0",
        maxTileMatrix: String(mostVectorZoom),
        attributes: columns.map(({ name }) => name),
      },
    ],
  };
}

const dimensions: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 0,
  LineString: 1,
  MultiLineString: 1,
  Polygon: 2,
  MultiPolygon: 2,
};

function describeTileSet(
  { title }: VectorLayer,
  { address, base, query }: TileSetPlace,
): JsonObject {
  const tiles = `${address}/tiles/${matrixSetName}`;
  return {
    title,
    dataType: "vector",
    crs: webMercatorUri,
    tileMatrixSetURI: matrixSetUri,
    links: [
      { rel: "self", type: json, href: `${tiles}${query}` },
      {
        rel: ogcRel("tiling-scheme"),
        type: json,
        href: `${base}/ogc/tileMatrixSets/${matrixSetName}`,
      },
      { rel: "describedby", type: json, title: "TileJSON", href: `${tiles}/tilejson.json${query}` },
      {
        rel: "item",
        type: "application/vnd.mapbox-vector-tile",
        templated: true,
        href: `${tiles}/{tileMatrix}/{tileCol}/{tileRow}${query}`,
      },
    ],
  };
}
