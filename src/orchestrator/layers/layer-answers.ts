/**
 * Answers all requests for a raster layer, after `routes.ts` has found it and checked who may see it,
 * and passes those for tiles of a vector layer on to `feature-answers.ts`.
 *
 * The ETag of a picture is made of the version of the layer and all parameters. Clients revalidate
 * with every request: a 304 costs a query, and a layer that was withdrawn is gone at once.
 */
import { createHash } from "node:crypto";
import type { ApiRequest } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { mapPage } from "../../adapters/http/map-page.ts";
import type { RasterServer } from "../../adapters/tiles/raster-server.ts";
import type { Contract } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import type { HexagonLayer, Layer, RasterLayer, VectorLayer } from "../../core/serving/layer.ts";
import type { RenderQuery } from "../../core/serving/render-options.ts";
import {
  chooseFormat,
  chooseOptions,
  mediaOfPicture,
  optionsKey,
  toQueryText,
} from "../../core/serving/render-options.ts";
import { readAreas, withStatistics } from "../../core/zonal/zones.ts";
import { makeMapStyle } from "../../core/serving/map-style.ts";
import type { TileJson } from "../../core/serving/tilejson.ts";
import { makeTileJson } from "../../core/serving/tilejson.ts";
import { makeWmtsCapabilities } from "../../core/serving/wmts.ts";
import { baseOf } from "../../adapters/http/base-url.ts";

type Plain = Pick<ApiRequest<Contract>, "header" | "signal">;
type Asked<Params, Query> = Plain & { readonly params: Params; readonly query: Query };

export interface TileParams {
  readonly z: number;
  readonly x: number;
  readonly y: { readonly y: number; readonly extension: string | undefined };
}
interface ValueQuery {
  readonly bidx?: readonly number[] | undefined;
  readonly nodata?: number | undefined;
}

/** A vector layer answers these requests at the same addresses as a raster. */
export interface VectorAnswers {
  tile(layer: VectorLayer, params: TileParams, request: Plain): Promise<Answer>;
  tileJson(
    layer: VectorLayer,
    base: string,
    request: Plain & { readonly query: object },
  ): Promise<{ tilejson: string; [name: string]: unknown }>;
}

/** So does a layer of values by H3 cell. */
export interface HexagonAnswers {
  tile(layer: HexagonLayer, params: TileParams, request: Plain): Promise<Answer>;
  tileJson(
    layer: HexagonLayer,
    base: string,
    request: Plain & { readonly query: object },
  ): Promise<{ tilejson: string; [name: string]: unknown }>;
}

export type LayerAnswers = ReturnType<typeof createLayerAnswers>;

export function createLayerAnswers(
  raster: RasterServer,
  vector?: VectorAnswers,
  hexagons?: HexagonAnswers,
) {
  function requireRaster(layer: Layer): RasterLayer {
    if (layer.kind === "raster") return layer;
    const reason =
      layer.kind === "mosaic" ? "many rasters has no one file" : "features has no pixels";
    throw new Problem("NOT_FOUND", `A layer of ${reason}.`);
  }
  function requireHexagons(): HexagonAnswers {
    if (hexagons !== undefined) return hexagons;
    throw new Problem("NOT_FOUND", "Values by H3 cell have no tiles here.");
  }
  function requireVector(): VectorAnswers {
    if (vector !== undefined) return vector;
    throw new Problem("NOT_FOUND", "Layers of features have no tiles here.");
  }

  return {
    async tile(
      layer: Layer,
      request: Asked<TileParams, RenderQuery & { readonly tilesize: number }>,
    ): Promise<Answer> {
      const { params, query, signal, header } = request;
      const { y, extension } = params.y;
      const tile = { z: params.z, x: params.x, y };
      if (layer.kind === "vector") return requireVector().tile(layer, params, request);
      if (layer.kind === "hexagons") return requireHexagons().tile(layer, params, request);
      if (extension !== undefined && !pictures.has(extension)) {
        throw new Problem("NOT_FOUND", `A raster has no tiles as .${extension}: ask for .png.`);
      }
      const options = chooseOptions(query, layer.style);
      const format = chooseFormat(extension, header("accept"));
      const place = `${tile.z}/${tile.x}/${tile.y}/${query.tilesize}`;
      const etag = makeEtag(layer, place, format, optionsKey(options));
      return answerPicture(request, etag, () =>
        raster.tile(layer, tile, { options, format, tileSize: query.tilesize, signal }),
      );
    },

    async preview(
      layer: Layer,
      request: Asked<
        unknown,
        RenderQuery & { readonly max_size: number; readonly format?: string | undefined }
      >,
    ): Promise<Answer> {
      const shown = requireRaster(layer);
      const { query, signal, header } = request;
      const options = chooseOptions(query, layer.style);
      const format = chooseFormat(query.format, header("accept"));
      const mostSide = query.max_size;
      const etag = makeEtag(layer, `preview/${mostSide}`, format, optionsKey(options));
      return answerPicture(request, etag, () =>
        raster.preview(shown, { options, format, mostSide, signal }),
      );
    },

    /** `base` is the path that the addresses of the layer begin with. */
    async tileJson(layer: Layer, base: string, request: Asked<unknown, object>) {
      if (layer.kind === "vector") return requireVector().tileJson(layer, base, request);
      if (layer.kind === "hexagons") return requireHexagons().tileJson(layer, base, request);
      const { bounds, minZoom, maxZoom } = await raster.zooms(layer);
      const query = toQueryText(request.query as Record<string, unknown>);
      const address = `${baseOf(request)}${base}/tiles/WebMercatorQuad/{z}/{x}/{y}${query}`;
      return makeTileJson({ title: layer.title, address, bounds, minZoom, maxZoom });
    },

    async style(layer: Layer, base: string, request: Asked<unknown, object>) {
      const tilejson = await this.tileJson(layer, base, request);
      return makeMapStyle(layer, tilejson as TileJson);
    },

    async wmts(layer: Layer, base: string, request: Asked<unknown, object>): Promise<Answer> {
      const tilejson = (await this.tileJson(layer, base, request)) as TileJson;
      const query = toQueryText(request.query as Record<string, unknown>);
      const address = `${baseOf(request)}${base}/WMTSCapabilities.xml${query}`;
      return new Answer(
        makeWmtsCapabilities({
          tilejson,
          address,
          isVector: layer.kind === "vector" || layer.kind === "hexagons",
        }),
      );
    },

    async point(
      layer: Layer,
      { params, query, signal }: Asked<{ place: { lon: number; lat: number } }, ValueQuery>,
    ) {
      const { bidx: bands, nodata } = query;
      const shown = layer.kind === "mosaic" ? layer : requireRaster(layer);
      return raster.point(shown, params.place, { bands, nodata, signal });
    },

    async statistics(
      layer: Layer,
      { query, signal }: Asked<unknown, ValueQuery & { readonly max_size: number }>,
    ) {
      const { bidx: bands, nodata, max_size: mostSide } = query;
      return raster.statistics(requireRaster(layer), { bands, nodata, mostSide, signal });
    },

    async areaStatistics(
      layer: Layer,
      { query, body, signal }: Asked<unknown, ValueQuery> & { readonly body: object },
    ): Promise<Answer> {
      const areas = readAreas(body);
      if (typeof areas === "string") throw new Problem("BAD_REQUEST", areas);
      if (areas.length === 0 || areas.length > mostAreas) {
        const text = `There are ${areas.length} areas; one to ${mostAreas} are computed at once.`;
        throw new Problem("BAD_REQUEST", `${text} The workflow zonal_statistics takes more.`);
      }
      const { bidx: bands, nodata } = query;
      const found = await raster.zones(requireRaster(layer), areas, { bands, nodata, signal });
      const headers = { "content-type": "application/geo+json", "cache-control": "no-store" };
      return new Answer(withStatistics(body, found), { headers });
    },

    info: async (layer: Layer) => raster.info(requireRaster(layer)),

    map: (layer: Layer, base: string, request: Asked<unknown, object>): Answer =>
      mapPage(layer, {
        prefix: new URL(baseOf(request)).pathname.replace(/\/$/, ""),
        base,
        query: toQueryText(request.query as Record<string, unknown>),
      }),
  };
}

const mostAreas = 1000;

const pictures = new Set(["png", "webp", "jpg", "jpeg"]);

/** Must be raised when the picture of an unchanged request changes, so that ETags change. */
const rendererVersion = 2;

function makeEtag(layer: Layer, ...parts: readonly string[]): string {
  const text = JSON.stringify([rendererVersion, layer.version_tag, ...parts]);
  return `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`;
}

async function answerPicture(
  { header, signal }: Plain,
  etag: string,
  make: () => Promise<Uint8Array>,
): Promise<Answer> {
  const headers = { etag, "cache-control": "private, no-cache", vary: "accept" };
  if (header("if-none-match") === etag) return new Answer(undefined, { status: 304, headers });
  const bytes = await make().catch((error: unknown) => {
    // The client has closed the connection: no answer is read, and this is no error.
    if (signal.aborted) return undefined;
    throw error;
  });
  if (bytes === undefined) return new Answer(undefined, { status: 204 });
  return new Answer(bytes, { headers: { ...headers, "content-type": mediaOfPicture(bytes) } });
}
