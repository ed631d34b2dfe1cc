import { z } from "zod";
import { colormapNames } from "./colormaps.ts";

/** How a layer is shown unless a request asks for something else. Kept with the layer, not in a client. */
const channel = z.number().int().min(0).max(255);
const colour = z.union([
  z.tuple([channel, channel, channel]),
  z.tuple([channel, channel, channel, channel]),
]);

const range = z.tuple([z.number(), z.number()]).refine(([low, high]) => low < high, {
  message: "the first number must be less than the second",
});

/** By value, `{"1": [r, g, b, a]}`, or by interval, `[[[low, high], [r, g, b]], …]`, as TiTiler has them. */
export const colormap = z.union([
  z.record(z.string().regex(/^-?\d+(\.\d+)?$/), colour),
  z.array(z.tuple([z.tuple([z.number(), z.number()]), colour])).max(1024),
]);
export type Colormap = z.infer<typeof colormap>;

const cssColour = z
  .string()
  .max(64)
  .regex(/^(#[0-9a-f]{3,8}|[a-z]+|(rgb|hsl)a?\([\d\s.,%/]+\))$/i, "must be a CSS colour");

export const layerStyle = z
  .strictObject({
    rescale: z.array(range).min(1).max(64).optional(),
    colormap_name: z.enum(colormapNames).optional(),
    colormap: colormap.optional(),
    /** 1 is the first. One band is shown by a colormap, three as red, green and blue. */
    bands: z.array(z.number().int().min(1).max(65_535)).min(1).max(4).optional(),
    nodata: z.union([z.number(), z.literal("nan")]).optional(),
    vector: z
      .strictObject({
        fill: cssColour.optional(),
        stroke: cssColour.optional(),
        width: z.number().min(0).max(50).optional(),
        radius: z.number().min(0).max(100).optional(),
      })
      .optional(),
  })
  .meta({ id: "LayerStyle" });
export type LayerStyle = z.infer<typeof layerStyle>;
