/** Handlers of files that nothing was made of yet. */
import { z } from "zod";
import { queueFor } from "../queues.ts";
import { nodataValue } from "../raster/facts.ts";
import { defineContract } from "./contract.ts";
import { blobPath, bounds, container } from "./geospatial.ts";

const count = z.number().int().min(0);
/** A code such as `EPSG:2056`, or the system's name where it has none; null: the file names none. */
const crs = z.string().nullable();

const inspectFile = defineContract({
  name: "inspect_file",
  description: "Says what a file holds, and draws a small picture of it. Nothing is kept of it.",
  params: z.strictObject({
    blob_path: blobPath,
    container: container.nullish(),
    kind: z.enum(["raster", "vector"]),
  }),
  result: z.object({
    kind: z.enum(["raster", "vector"]),
    crs,
    /** In units of the CRS. */
    bounds: bounds.nullable(),
    raster: z
      .object({
        width: count,
        height: count,
        band_count: count,
        data_type: z.string(),
        nodata: nodataValue.nullable(),
        compression: z.string().nullable(),
      })
      .nullable(),
    /** The first layers of a file of vectors. */
    layers: z.array(
      z.object({
        name: z.string(),
        geometry_type: z.string(),
        features: count.nullable(),
        columns: count,
        crs,
      }),
    ),
    layer_count: count,
    /** Null: the file cannot be drawn, or not within the time for it. */
    thumbnail: z
      .object({ media_type: z.string(), width: count, height: count, base64: z.base64() })
      .nullable(),
  }),
  queue: queueFor.light,
  timeout_seconds: 120,
});
export type InspectedFile = z.infer<typeof inspectFile.result>;
export const inspectedFile = inspectFile.result;

export const fileContracts = [inspectFile] as const;
