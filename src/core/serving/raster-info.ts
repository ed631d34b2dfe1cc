import { z } from "zod";

/** The fields have TiTiler's names. */
export const rasterInfo = z
  .object({
    bounds: z.tuple([z.number(), z.number(), z.number(), z.number()]),
    crs: z.string().nullable(),
    driver: z.literal("GTiff"),
    width: z.number().int(),
    height: z.number().int(),
    count: z.number().int(),
    dtype: z.string(),
    colorinterp: z.array(z.string()),
    nodata_type: z.enum(["Nodata", "Alpha", "Mask", "None"]),
    nodata_value: z.union([z.number(), z.literal("nan")]).nullable(),
    overviews: z.array(z.number().int()),
    minzoom: z.number().int(),
    maxzoom: z.number().int(),
    band_descriptions: z.array(z.tuple([z.string(), z.string()])),
  })
  .meta({ id: "RasterInfo" });
export type RasterInfo = z.infer<typeof rasterInfo>;

export const pointValues = z
  .object({
    coordinates: z.tuple([z.number(), z.number()]),
    values: z.array(z.number().nullable()),
    band_names: z.array(z.string()),
  })
  .meta({ id: "PointValues" });
export type PointValues = z.infer<typeof pointValues>;
