/**
 * Parameters of raster and vector handlers as one site wants them, for tasks that leave them out. What a
 * workflow or its submitter states comes first.
 */
import { z } from "zod";
import type { Json, JsonObject } from "../model/json.ts";
import { crs } from "./geospatial.ts";
import type { HandlerContract } from "./contract.ts";

export interface ParameterDefaults {
  readonly raster: Readonly<Record<string, Json | undefined>>;
  readonly vector: Readonly<Record<string, Json | undefined>>;
}

/** The settings. Compressions are those that every kind of raster can have. */
export const parameterDefaultsEnvironment = {
  RASTER_COMPRESSION: z.enum(["deflate", "zstd", "lzw"]).optional(),
  RASTER_BLOCK_SIZE: z
    .enum(["256", "512", "1024"])
    .transform((text) => Number(text))
    .optional(),
  RASTER_TARGET_CRS: crs.optional(),
  VECTOR_CHUNK_SIZE: z.coerce.number().int().min(1).max(1_000_000).optional(),
  VECTOR_ENCODING: z
    .string()
    .regex(/^[\w.:-]{1,40}$/, "must be the name of an encoding, such as UTF-8 or CP1252")
    .optional(),
};

type Settings = z.infer<z.ZodObject<typeof parameterDefaultsEnvironment>>;

export function toParameterDefaults(settings: Settings): ParameterDefaults {
  return {
    raster: {
      compression: settings.RASTER_COMPRESSION,
      block_size: settings.RASTER_BLOCK_SIZE,
      target_crs: settings.RASTER_TARGET_CRS,
    },
    vector: { chunk_size: settings.VECTOR_CHUNK_SIZE, encoding: settings.VECTOR_ENCODING },
  };
}

/** The parameters, with the site's values for those that are not given and that the contract has. */
export function withParameterDefaults(
  { name, params }: Pick<HandlerContract, "name" | "params">,
  given: JsonObject,
  { raster, vector }: ParameterDefaults,
): JsonObject {
  const defaults = /^raster[._]/.test(name)
    ? raster
    : name.startsWith("vector_")
      ? vector
      : undefined;
  if (defaults === undefined) return given;
  // The copy for web maps has the form that web maps need.
  if (!(params instanceof z.ZodObject) || given["tier"] === "visualization") return given;
  const missing = Object.entries(defaults).flatMap(([key, value]) =>
    value !== undefined && Object.hasOwn(params.shape, key) && given[key] == null
      ? [[key, value] as const]
      : [],
  );
  return missing.length === 0 ? given : { ...given, ...Object.fromEntries(missing) };
}
