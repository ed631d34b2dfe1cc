import { expect, it } from "vitest";
import { z } from "zod";
import { handlerCatalogue } from "./index.ts";
import {
  parameterDefaultsEnvironment,
  toParameterDefaults,
  withParameterDefaults,
} from "./parameter-defaults.ts";

const environment = z.object(parameterDefaultsEnvironment);
const defaults = toParameterDefaults(
  environment.parse({
    RASTER_COMPRESSION: "zstd",
    RASTER_BLOCK_SIZE: "256",
    RASTER_TARGET_CRS: "EPSG:4326",
    VECTOR_CHUNK_SIZE: "500",
  }),
);
const filled = (handler: string, given: Record<string, string | number | null>) =>
  withParameterDefaults(handlerCatalogue.get(handler)!, given, defaults);

it("are taken for parameters that a task leaves out, and for no others", () => {
  const made = { compression: "zstd", block_size: 256, target_crs: "EPSG:4326" };
  expect(filled("raster.create_cog", { blob_path: "a.tif" })).toEqual({
    blob_path: "a.tif",
    ...made,
  });
  expect(filled("raster.create_cog", { compression: "lzw", target_crs: null })).toEqual({
    ...made,
    compression: "lzw",
  });
  // It has no target, and no blocks.
  expect(filled("raster.validate", {})).toEqual({ compression: "zstd" });
  expect(filled("vector_prepare", { chunk_size: null })).toEqual({ chunk_size: 500 });
  expect(filled("raster.create_cog", { tier: "visualization" })).toEqual({ tier: "visualization" });
  expect(filled("echo", {})).toEqual({});
});

it("refuse what no raster can have", () => {
  expect(environment.safeParse({ RASTER_COMPRESSION: "jpeg" }).success).toBe(false);
  expect(environment.safeParse({ RASTER_BLOCK_SIZE: "300" }).success).toBe(false);
  expect(environment.safeParse({ VECTOR_CHUNK_SIZE: "0" }).success).toBe(false);
});
