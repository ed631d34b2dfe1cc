import { once } from "../../core/once.ts";
import type { RasterServer, RasterServerOptions } from "./raster-server.ts";

/**
 * Loaded with the first picture: the libraries of images and projections are a quarter of what an
 * orchestrator loads, and many never show one.
 */
export function createLazyRasterServer(options: RasterServerOptions): RasterServer {
  const server = once(async () => {
    const { createRasterServer } = await import("./raster-server.ts");
    return createRasterServer(options);
  });
  return {
    tile: async (...given) => (await server()).tile(...given),
    preview: async (...given) => (await server()).preview(...given),
    point: async (...given) => (await server()).point(...given),
    statistics: async (...given) => (await server()).statistics(...given),
    info: async (...given) => (await server()).info(...given),
    zooms: async (...given) => (await server()).zooms(...given),
  };
}
