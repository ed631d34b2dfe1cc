/** Reads a search from either form: an address, where all values are text, or a JSON body. */
import type { z } from "zod";
import { checkSize } from "../cql2/check-size.ts";
import { checkSpatial, separateSpatial } from "../cql2/spatial.ts";
import { filterFromQuery, filterFromJson, filterFromText } from "../cql2/read-filter.ts";
import type { SpatialFilter } from "../cql2/spatial.ts";
import type { Filter } from "../cql2/ast.ts";
import { invalidFilter } from "../cql2/ast.ts";
import type { Json } from "../model/json.ts";
import { boxesOf } from "../geometry/boxes.ts";
import type { Box } from "../geometry/boxes.ts";
import { readInterval, refuse } from "./query-parameters.ts";
import { bboxSchema, searchGeometry } from "../geometry/geometry.ts";
import type { SearchGeometry } from "../geometry/geometry.ts";

/** A search in the form of a body; the parameters of an address are turned into this form first. */
export interface SearchRequest {
  readonly collections?: readonly string[] | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly bbox?: readonly number[] | undefined;
  readonly datetime?: string | undefined;
  readonly intersects?: Json | undefined;
  readonly query?: Json | undefined;
  readonly filter?: Json | undefined;
  readonly "filter-lang"?: "cql2-text" | "cql2-json" | undefined;
}

export interface Search {
  readonly collections: readonly string[] | undefined;
  readonly ids: readonly string[] | undefined;
  /** An item must overlap at least one of these boxes. */
  readonly boxes: readonly Box[] | undefined;
  readonly start: string | undefined;
  readonly end: string | undefined;
  /** The filter for the database; its geometries are compared by their boxes. */
  readonly filter: Filter | undefined;
  /** Tests the exact geometry of each item that the database found by boxes. */
  readonly spatial: SpatialFilter | undefined;
}

const geometryName = "geometry";

export function readSearch(request: SearchRequest): Search {
  const { bbox, intersects } = request;
  if (bbox !== undefined && intersects !== undefined) {
    throw refuse("intersects", "only one of bbox and intersects can be given");
  }
  const asked = readFilters(request);
  if (asked !== undefined) checkSpatial(asked, [geometryName]);
  const spatial = asked === undefined ? undefined : separateSpatial(asked);
  return {
    collections: request.collections,
    ids: request.ids,
    boxes: bbox === undefined ? undefined : boxesOf(readBbox(bbox)),
    ...readInterval(request.datetime),
    filter: spatial?.wide ?? asked,
    spatial,
  };
}

function readFilters(request: SearchRequest): Filter | undefined {
  const { query, filter, intersects, "filter-lang": language } = request;
  const parts: Filter[] = [];
  if (intersects !== undefined) {
    const geometry = readGeometry(intersects);
    parts.push({ kind: "intersects", property: geometryName, geometry });
  }
  if (query !== undefined) parts.push(filterFromQuery(query));
  if (filter !== undefined) {
    const text = language === "cql2-text" || (language === undefined && typeof filter === "string");
    if (text && typeof filter !== "string") throw invalidFilter("A filter in cql2-text is a text.");
    const given = !text && typeof filter === "string" ? parseJson(filter) : filter;
    parts.push(text ? filterFromText(filter as string) : filterFromJson(given));
  }
  return parts.length === 0 ? undefined : { kind: "all", parts };
}

/** Parses JSON that was given as text in an address. */
function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw invalidFilter("A filter in cql2-json is JSON.");
  }
}

function readBbox(bbox: readonly number[]): z.infer<typeof bboxSchema> {
  // Heights are dropped, because footprints have none.
  const flat = bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox;
  const parsed = bboxSchema.safeParse(flat);
  if (parsed.success) return parsed.data;
  throw refuse("bbox", "must be west, south, east, north in degrees");
}

function readGeometry(json: Json): SearchGeometry {
  const parsed = searchGeometry.safeParse(checkSize(json));
  if (parsed.success) return parsed.data;
  throw refuse("intersects", "must be a GeoJSON geometry");
}
