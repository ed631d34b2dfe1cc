import type { ByteStore } from "../../src/adapters/tiles/byte-source.ts";
import { createRenderer } from "../../src/adapters/tiles/create-renderer.ts";
import { keepPictures } from "../../src/adapters/tiles/keep-pictures.ts";
import type { PictureCaches, RasterServer } from "../../src/adapters/tiles/raster-server.ts";

const blockCacheBytes = 128 * 1024 * 1024;

/** Pictures and values that are made in this thread, without threads of their own to start. */
export function createRasterServer(
  options: { readonly storage: ByteStore } & Omit<PictureCaches, "atOnce"> & {
      readonly atOnce?: number;
    },
): RasterServer {
  const renderer = createRenderer(options.storage, blockCacheBytes);
  return keepPictures(renderer, { atOnce: 4, ...options });
}
