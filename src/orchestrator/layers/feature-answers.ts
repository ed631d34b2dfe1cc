/**
 * Answers all requests for a vector layer, after `routes.ts` has found it and checked who may see it.
 * ETags contain the id of the load that filled the table, so that all of them change when a layer is
 * loaded again.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { compress } from "../../adapters/http/compress.ts";
import type { ApiRequest } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Database, Queryable } from "../../adapters/postgres/database.ts";
import { getFeature } from "../../adapters/postgres/queries/features.ts";
import type { GeoTable } from "../../adapters/postgres/queries/geo-tables.ts";
import { findGeoTable } from "../../adapters/postgres/queries/geo-tables.ts";
import { createVectorTiles } from "../../adapters/tiles/vector-tiles.ts";
import type { Contract } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { Layer, VectorLayer } from "../../core/serving/layer.ts";
import { toQueryText } from "../../core/serving/render-options.ts";
import type { TileSetPlace } from "../../core/serving/ogc-documents.ts";
import { tileSetDocument, tileSetsDocument } from "../../core/serving/ogc-documents.ts";
import {
  collectionDocument,
  queryablesDocument,
  vectorTileJson,
} from "../../core/serving/vector-documents.ts";
import { csvText, featureText } from "../../core/serving/vector-formats.ts";
import type { ItemsQuery } from "../../core/serving/vector-items.ts";
import { readItems } from "../../core/serving/vector-items.ts";
import type { Tile } from "../../core/serving/web-mercator.ts";
import { isTile } from "../../core/serving/web-mercator.ts";
import type { ItemRequest } from "./check-clearance.ts";
import type { CachedLayer, ItemLayers } from "./find-item-layer.ts";
import type { TileParams } from "./layer-answers.ts";
import { readFeatures } from "./read-features.ts";
import { baseOf } from "../../adapters/http/base-url.ts";

type Plain = Pick<ApiRequest<Contract>, "header" | "signal">;

export type FeatureAnswers = ReturnType<typeof createFeatureAnswers>;

const tileMedia = "application/vnd.mapbox-vector-tile";

/** `tileDb`: connections whose plans suit tiles. */
export function createFeatureAnswers(db: Database, tileDb: Queryable = db) {
  const tiles = createVectorTiles(tileDb);
  /** By name, as last read. */
  const tables = new LRUCache<string, GeoTable>({ max: 200 });

  async function requireTable(layer: Layer): Promise<{ layer: VectorLayer; table: GeoTable }> {
    if (layer.kind !== "vector") {
      throw new Problem("NOT_FOUND", "This layer is a raster: it has pixels and no features.");
    }
    const table = await findGeoTable(db, layer.table);
    if (table !== undefined) {
      tables.set(layer.table, table);
      return { layer, table };
    }
    tables.delete(layer.table);
    throw new Problem("NOT_FOUND", `The table "${layer.table}" of this layer is gone.`);
  }

  async function tile(found: Layer, params: TileParams, request: Plain): Promise<Answer> {
    const place = requireTile(params);
    const { layer, table } = await requireTable(found);
    return answer(request, makeEtag(layer, table, "tile", place), async () => {
      const body = await tiles.make(table, place, request.signal);
      return { body, type: tileMedia };
    });
  }

  /** The tile by one statement, which checks all that was cached; undefined where it cannot. */
  async function checkedTile(
    { item, layer }: CachedLayer,
    place: Tile,
    request: Plain,
  ): Promise<Answer | undefined> {
    const table = layer.kind === "vector" ? tables.get(layer.table) : undefined;
    if (layer.kind !== "vector" || table === undefined) return undefined;
    const etag = makeEtag(layer, table, "tile", place);
    // An answer without a body needs no tile.
    if (request.header("if-none-match") === etag) return undefined;
    const body = await tiles.makeIfUnchanged(table, place, item, request.signal);
    return body && answer(request, etag, async () => ({ body, type: tileMedia }));
  }

  return {
    /** `base` is the path of the collection, and `id` its name there. */
    async collection(
      found: Layer,
      { base, id }: { readonly base: string; readonly id: string },
      request: Plain,
    ): Promise<JsonObject> {
      const { layer, table } = await requireTable(found);
      return collectionDocument(layer, table, { id, address: baseOf(request) + base });
    },

    async tileSets(found: Layer, base: string, request: Plain & { readonly query?: object }) {
      const { layer } = await requireTable(found);
      return tileSetsDocument(layer, placeOf(base, request));
    },

    async tileSet(found: Layer, base: string, request: Plain & { readonly query?: object }) {
      const { layer, table } = await requireTable(found);
      return tileSetDocument(layer, table, placeOf(base, request));
    },

    async queryables(found: Layer, base: string, request: Plain): Promise<Answer> {
      const { layer, table } = await requireTable(found);
      const document = queryablesDocument(layer, table, baseOf(request) + base);
      return new Answer(JSON.stringify(document));
    },

    /** `own` are parameters of the address that are no columns. */
    async items(
      found: Layer,
      base: string,
      request: Plain & { readonly query: ItemsQuery },
      own: readonly string[] = [],
    ): Promise<Answer> {
      const { layer, table } = await requireTable(found);
      const { query } = request;
      const asked = readItems(query, table.columns, own);
      return answer(request, makeEtag(layer, table, "items", query), async () => {
        const page = await readFeatures(db, table, asked, query.token);
        const links = pageLinks(baseOf(request) + base, query, page.next);
        const headers = linkHeader(links);
        if (query.f === "csv") {
          const names = asked.columns.map((column) => column.name);
          const body = csvText(page.features, names);
          return { body, type: "text/csv; charset=utf-8", headers };
        }
        const counts = JSON.stringify({
          numberMatched: page.matched,
          numberReturned: page.features.length,
        }).slice(1, -1);
        // Features are JSON text already; an object of them would have to parse each of them.
        const body = `{"type":"FeatureCollection",${counts},"links":${JSON.stringify(links)},"features":[${page.features.map(featureText).join(",")}]}`;
        return { body, type: "application/geo+json", headers };
      });
    },

    async item(found: Layer, fid: number, request: Plain): Promise<Answer> {
      const { layer, table } = await requireTable(found);
      return answer(request, makeEtag(layer, table, "item", fid), async () => {
        const feature = await getFeature(db, table, fid);
        if (feature === undefined) {
          throw new Problem("NOT_FOUND", `The layer has no feature ${fid}.`);
        }
        return { body: featureText(feature), type: "application/geo+json" };
      });
    },

    tile,

    /** The same at the address of an item, which needs no statement of its own to find the layer. */
    async itemTile(layers: ItemLayers, item: ItemRequest, params: TileParams, request: Plain) {
      const cached = layers.cached(item);
      const made = cached && (await checkedTile(cached, requireTile(params), request));
      return made ?? tile(await layers.find(item), params, request);
    },

    async tileJson(found: Layer, base: string, request: Plain & { readonly query?: object }) {
      const { layer, table } = await requireTable(found);
      const query = toQueryText(whichVersion(request.query));
      const address = `${baseOf(request)}${base}/tiles/WebMercatorQuad/{z}/{x}/{y}${query}`;
      return vectorTileJson(layer, table, address);
    },
  };
}

function requireTile({ z, x, y: { y, extension } }: TileParams): Tile {
  const tile = { z, x, y };
  if (isTile(tile) && ["mvt", "pbf", undefined].includes(extension)) return tile;
  throw new Problem("NOT_FOUND", "There is no such tile.");
}

function placeOf(path: string, request: Plain & { readonly query?: object }): TileSetPlace {
  const base = baseOf(request);
  return { base, address: base + path, query: toQueryText(whichVersion(request.query)) };
}

/** The parameters that choose a version; those that colour pixels have no meaning for features. */
function whichVersion(query: object | undefined): Readonly<Record<string, unknown>> {
  const { version, preview } = (query ?? {}) as { version?: unknown; preview?: unknown };
  return { version, preview };
}

async function answer(
  { header }: Plain,
  etag: string,
  make: () => Promise<{
    body: string | Uint8Array;
    type: string;
    headers?: Readonly<Record<string, string>>;
  }>,
): Promise<Answer> {
  const headers = { etag, "cache-control": "private, no-cache" };
  if (header("if-none-match") === etag) return new Answer(undefined, { status: 304, headers });
  const { body, type, headers: more } = await make();
  if (body.length === 0 && type === tileMedia)
    return new Answer(undefined, { status: 204, headers });
  const sent = await compress(body, header);
  return new Answer(sent.body, {
    headers: { ...headers, ...more, ...sent.headers, "content-type": type },
  });
}

/** Must be raised when the answer to an unchanged request changes, so that ETags change. */
const answerVersion = 3;

function makeEtag(layer: VectorLayer, table: GeoTable, ...asked: readonly unknown[]): string {
  const text = JSON.stringify([answerVersion, layer.version_tag, table.load_id, ...asked]);
  return `W/"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`;
}

interface Link {
  readonly rel: string;
  readonly type: string;
  readonly href: string;
}

function pageLinks(address: string, query: ItemsQuery, next: string | undefined): Link[] {
  const page = (rel: string, token: string | undefined) => {
    const given = Object.entries({ ...query, token }).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(
      given.map(([name, value]): [string, string] => [
        name,
        Array.isArray(value) ? value.join(",") : String(value),
      ]),
    );
    return { rel, type: "application/geo+json", href: `${address}/items?${text.toString()}` };
  };
  return [
    page("self", query.token),
    { rel: "collection", type: "application/json", href: address },
    ...(next === undefined ? [] : [page("next", next)]),
  ];
}

/** CSV has no place for links, so the next page is in a header. */
function linkHeader(links: readonly Link[]): Record<string, string> {
  const next = links.find(({ rel }) => rel === "next");
  return next === undefined ? {} : { link: `<${next.href}>; rel="next"` };
}
