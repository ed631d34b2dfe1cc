import { z } from "zod";
import { colormapNames } from "./colormaps.ts";
import type { JsonObject } from "../model/json.ts";
import { mostZoom } from "./web-mercator.ts";

/** The default look of a layer, stored with the layer and not in a client. */
const channel = z.number().int().min(0).max(255);
const colour = z.union([
  z.tuple([channel, channel, channel]),
  z.tuple([channel, channel, channel, channel]),
]);

const range = z.tuple([z.number(), z.number()]).refine(([low, high]) => low < high, {
  message: "the first number must be less than the second",
});

/**
 * A colormap by value, `{"1": [r, g, b, a]}`, or by interval, `[[[low, high], [r, g, b]], …]`, as
 * in TiTiler.
 */
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
    /** Band numbers from 1. One band is shown by a colormap, three as red, green and blue. */
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

const zoom = z.number().int().min(0).max(mostZoom).nullable().default(null);
const text = (max: number) => z.string().min(1).max(max).nullable().default(null);
const document = (z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject, JsonObject>)
  .nullable()
  .default(null);

/**
 * How an asset is shown. It is stored for the asset, so that a new version looks like the one
 * before.
 */
export const layerMetadataEdit = z
  .strictObject({
    display_name: z.string().min(1).max(200),
    description: text(10_000),
    attribution: text(1000),
    keywords: z.array(z.string().min(1).max(100)).max(50).default([]),
    style: layerStyle.nullable().default(null),
    legend: document,
    field_metadata: document.describe("by field: title, unit, description, hidden"),
    min_zoom: zoom,
    max_zoom: zoom,
    thumbnail: text(1024).describe("a path in storage, such as silver/thumbnails/a.png"),
  })
  .refine(
    ({ min_zoom, max_zoom }) => min_zoom === null || max_zoom === null || min_zoom <= max_zoom,
    { path: ["max_zoom"], message: "must not be less than min_zoom" },
  );
export type LayerMetadataEdit = z.output<typeof layerMetadataEdit>;
