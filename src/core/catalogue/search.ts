/** What a search asks for, read from either form: an address, where all is text, or a JSON body. */
import type { z } from "zod";
import { filterFromQuery } from "../cql2/from-query.ts";
import { filterFromJson, filterFromText } from "../cql2/read-filter.ts";
import { splitSpatial } from "../cql2/split-spatial.ts";
import type { Filter } from "../cql2/ast.ts";
import { invalidFilter } from "../cql2/ast.ts";
import type { ProblemItem } from "../errors.ts";
import { Problem } from "../errors.ts";
import type { Json } from "../model/json.ts";
import { boxesAround, boxesOf } from "./boxes.ts";
import type { Box } from "./boxes.ts";
import { readInterval } from "./interval.ts";
import { searchGeometry, shapesOf, sizeOf } from "./geometry.ts";
import type { SearchGeometry } from "./geometry.ts";
import { bboxSchema } from "./stac.ts";

/** As a body has it; the address is turned into this first. */
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
  /** One of each list must be met. */
  readonly boxes: readonly (readonly Box[])[];
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly filter: Filter | undefined;
  /** All of which the item's own geometry must meet: boxes are not enough for these. */
  readonly geometries: readonly SearchGeometry[];
}

/** A test against a larger one would keep everybody else waiting. */
const mostPositions = 10_000;

export function readSearch(request: SearchRequest): Search {
  const { bbox, intersects } = request;
  if (bbox !== undefined && intersects !== undefined) {
    throw refuse("intersects", "only one of bbox and intersects can be given");
  }
  const asked = readFilters(request);
  const { rest, spatial } =
    asked === undefined ? { rest: undefined, spatial: [] } : splitSpatial(asked);
  for (const { property } of spatial) {
    if (property !== "geometry") throw invalidFilter(`"${property}" is not a geometry.`);
  }
  const geometries = [
    ...(intersects === undefined ? [] : [readGeometry(intersects)]),
    ...spatial.map(({ geometry }) => geometry),
  ];
  if (geometries.some((each) => sizeOf(shapesOf(each)) > mostPositions)) {
    throw refuse("intersects", `has more than ${mostPositions} positions: simplify it`);
  }
  return {
    collections: request.collections,
    ids: request.ids,
    boxes: [
      ...(bbox === undefined ? [] : [boxesOf(readBbox(bbox))]),
      ...geometries.map(boxesAround),
    ],
    ...readInterval(request.datetime),
    filter: rest,
    geometries,
  };
}

function readFilters(request: SearchRequest): Filter | undefined {
  const { query, filter, "filter-lang": language } = request;
  const parts: Filter[] = [];
  if (query !== undefined) parts.push(filterFromQuery(query));
  if (filter !== undefined) {
    const text = language === "cql2-text" || (language === undefined && typeof filter === "string");
    if (text && typeof filter !== "string") throw invalidFilter("A filter in cql2-text is a text.");
    const given = !text && typeof filter === "string" ? parseJson(filter) : filter;
    parts.push(text ? filterFromText(filter as string) : filterFromJson(given));
  }
  return parts.length === 0 ? undefined : { kind: "all", parts };
}

/** In an address JSON is a text. */
function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw invalidFilter("A filter in cql2-json is JSON.");
  }
}

function readBbox(bbox: readonly number[]): z.infer<typeof bboxSchema> {
  // Heights play no part: our footprints have none.
  const flat = bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox;
  const parsed = bboxSchema.safeParse(flat);
  if (parsed.success) return parsed.data;
  throw refuse("bbox", "must be west, south, east, north in degrees");
}

function readGeometry(json: Json): SearchGeometry {
  const parsed = searchGeometry.safeParse(json);
  if (parsed.success) return parsed.data;
  throw refuse("intersects", "must be a GeoJSON geometry");
}

export function refuse(name: string, message: string): Problem {
  const item: ProblemItem = { pointer: `/${name}`, code: "INVALID", message };
  return new Problem("BAD_REQUEST", `The search cannot be read: ${name} ${message}.`, [item]);
}
