import { z } from "zod";
import { isCrsText } from "../raster/crs.ts";

/** Parts that raster and vector contracts share. */

export const blobPath = z.string().min(1).max(1024);
export const container = z.string().min(1).max(63);

/** Longitude and latitude, or map units: west, south, east, north. */
export const bounds = z.tuple([z.number(), z.number(), z.number(), z.number()]);

/** `EPSG:3857`, or a definition as a PROJ string, WKT or PROJJSON; never a file or an address. */
export const crs = z
  .string()
  .min(1)
  .max(8192)
  .refine(isCrsText, "must be a code such as EPSG:4326, a PROJ string, WKT or PROJJSON");

export const geometry = z.looseObject({ type: z.string(), coordinates: z.array(z.json()) });

export const identifier = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, "must hold only letters, digits, _ . -");

export const resampling = z.enum([
  "nearest",
  "bilinear",
  "cubic",
  "cubicspline",
  "lanczos",
  "average",
  "mode",
  "max",
  "min",
  "med",
]);

export const compression = z.enum(["deflate", "zstd", "lzw", "jpeg", "webp", "lerc", "none"]);

/** The file that a node wrote, for the next node to read. */
export const written = z.object({
  blob_path: blobPath,
  container,
  file_size_mb: z.number().min(0),
});
