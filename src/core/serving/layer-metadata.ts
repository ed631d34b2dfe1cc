import { z } from "zod";
import { layerStyle } from "./style.ts";
import type { JsonObject } from "../model/json.ts";

const zoom = z.number().int().min(0).max(30).nullable().default(null);
const text = (max: number) => z.string().min(1).max(max).nullable().default(null);
const document = (z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject, JsonObject>)
  .nullable()
  .default(null);

/** How an asset is shown. Kept per asset, so that a new version looks like the one before. */
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
