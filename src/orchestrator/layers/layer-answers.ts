/**
 * What the addresses of a layer answer, whatever names the layer: each group of routes finds it, and
 * decides who may see it, and then asks here.
 *
 * Pictures carry an ETag of the layer's version and of all that was asked for, and clients ask again
 * each time: a 304 costs a query, and a layer that was withdrawn is gone at once.
 */
import { createHash } from "node:crypto";
import type { ApiRequest } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { mapPage } from "../../adapters/http/map-page.ts";
import type { RasterServer } from "../../adapters/tiles/raster-server.ts";
import { mediaOfPicture } from "../../adapters/tiles/media-of-picture.ts";
import type { Contract } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import {
  chooseFormat,
  chooseOptions,
  optionsKey,
  toQueryText,
} from "../../core/serving/render-options.ts";
import type { Layer, RasterLayer, VectorLayer } from "../../core/serving/layer.ts";
import type { RenderQuery } from "../../core/serving/render-options.ts";
import { makeTileJson } from "../../core/serving/tilejson.ts";
import { baseOf } from "../catalogue/base-url.ts";

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

/** What a layer of features answers at the addresses that it shares with rasters. */
export interface VectorAnswers {
  tile(layer: VectorLayer, params: TileParams, request: Plain): Promise<Answer>;
  tileJson(
    layer: VectorLayer,
    base: string,
    request: Plain & { readonly query: object },
  ): Promise<{ tilejson: string; [name: string]: unknown }>;
}

export type LayerAnswers = ReturnType<typeof createLayerAnswers>;

export function createLayerAnswers(raster: RasterServer, vector?: VectorAnswers) {
  function demandRaster(layer: Layer): RasterLayer {
    if (layer.kind === "raster") return layer;
    const reason =
      layer.kind === "vector" ? "features has no pixels" : "many rasters has no one file";
    throw new Problem("NOT_FOUND", `A layer of ${reason}.`);
  }
  function demandVector(): VectorAnswers {
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
      if (layer.kind === "vector") return demandVector().tile(layer, params, request);
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
      const shown = demandRaster(layer);
      const { query, signal, header } = request;
      const options = chooseOptions(query, layer.style);
      const format = chooseFormat(query.format, header("accept"));
      const mostSide = query.max_size;
      const etag = makeEtag(layer, `preview/${mostSide}`, format, optionsKey(options));
      return answerPicture(request, etag, () =>
        raster.preview(shown, { options, format, mostSide, signal }),
      );
    },

    /** `base`: where the layer's addresses hang, as a path. */
    async tileJson(layer: Layer, base: string, request: Asked<unknown, object>) {
      if (layer.kind === "vector") return demandVector().tileJson(layer, base, request);
      const { bounds, minZoom, maxZoom } = await raster.zooms(layer);
      const query = toQueryText(request.query as Record<string, unknown>);
      const address = `${baseOf(request)}${base}/tiles/WebMercatorQuad/{z}/{x}/{y}${query}`;
      return makeTileJson({ title: layer.title, address, bounds, minZoom, maxZoom });
    },

    async point(
      layer: Layer,
      { params, query, signal }: Asked<{ place: { lon: number; lat: number } }, ValueQuery>,
    ) {
      const { bidx: bands, nodata } = query;
      const shown = layer.kind === "mosaic" ? layer : demandRaster(layer);
      return raster.point(shown, params.place, { bands, nodata, signal });
    },

    async statistics(
      layer: Layer,
      { query, signal }: Asked<unknown, ValueQuery & { readonly max_size: number }>,
    ) {
      const { bidx: bands, nodata, max_size: mostSide } = query;
      return raster.statistics(demandRaster(layer), { bands, nodata, mostSide, signal });
    },

    info: async (layer: Layer) => raster.info(demandRaster(layer)),

    map: (layer: Layer, base: string, request: Asked<unknown, object>): Answer =>
      mapPage(layer, {
        prefix: new URL(baseOf(request)).pathname.replace(/\/$/, ""),
        base,
        query: toQueryText(request.query as Record<string, unknown>),
      }),
  };
}

const pictures = new Set(["png", "webp", "jpg", "jpeg"]);

/** Raised when the same request would give another picture. */
const rendererVersion = 1;

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
    // Who left while it was made reads no answer, and is no error.
    if (signal.aborted) return undefined;
    throw error;
  });
  if (bytes === undefined) return new Answer(undefined, { status: 204 });
  return new Answer(bytes, { headers: { ...headers, "content-type": mediaOfPicture(bytes) } });
}
