import { z } from "zod";
import { fileOfAsset } from "../catalogue/reference.ts";
import { itemTitle } from "./item-title.ts";
import type { Bounds, Layer, RasterLayer } from "./layer.ts";
import type { LayerStyle } from "./style.ts";
import { layerStyle } from "./style.ts";

/** The fields of a STAC item that serving reads; all others are ignored. */
const asset = z.looseObject({
  "rmhdag:path": z.string().optional(),
  "rmhdag:table": z.string().optional(),
  "rmhdag:shows": z.string().optional(),
  "file:checksum": z.string().optional(),
  "proj:wkt2": z.string().nullish(),
  "proj:code": z.string().nullish(),
  "rmhdag:datum_shift": z.tuple([z.number(), z.number(), z.number()]).nullish(),
  "proj:shape": z.tuple([z.number(), z.number()]).optional(),
  "proj:transform": z
    .tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()])
    .optional(),
});
const item = z.looseObject({
  id: z.string(),
  bbox: z.tuple([z.number(), z.number(), z.number(), z.number()]),
  properties: z.looseObject({
    title: z.string().optional(),
    updated: z.string().optional(),
    "processing:datetime": z.string().optional(),
    "rmhdag:h3_dataset": z.string().optional(),
    "rmhdag:h3_period": z.string().optional(),
    renders: z.looseObject({ default: z.unknown() }).optional(),
  }),
  assets: z.record(z.string(), asset),
});

/** The number of rasters from which the range of a mosaic is computed. */
export const mostSamples = 8;

/** Undefined: the item has no asset that can be shown. */
export function layerOfItem(given: unknown): Layer | undefined {
  const parsed = item.safeParse(given);
  if (!parsed.success) return undefined;
  const { id, bbox, properties, assets } = parsed.data;
  const bounds: Bounds = bbox;
  const changed = properties.updated ?? properties["processing:datetime"] ?? "";
  const style = readStyle(properties.renders?.default);
  const common = { title: itemTitle({ id, properties }), bounds, style };
  const own = (key: string) => (Object.hasOwn(assets, key) ? assets[key] : undefined);
  const data = own("data");
  const dataPath = data === undefined ? undefined : fileOfAsset(data);
  if (data !== undefined && dataPath !== undefined) {
    const visual = own("visual");
    return {
      kind: "raster",
      path: visual?.["rmhdag:path"] ?? dataPath,
      ...(visual === undefined ? {} : { copy: copyOf(visual["rmhdag:shows"], style) }),
      data_path: dataPath,
      ...placeOf(data),
      version_tag: [changed, data["file:checksum"], visual?.["file:checksum"]].join("/"),
      ...common,
    };
  }
  const members = Object.entries(assets).flatMap(([key, tile]): RasterLayer[] => {
    const path = fileOfAsset(tile);
    if (!/^tile_\d+$/.test(key) || path === undefined) return [];
    const version_tag = [changed, tile["file:checksum"]].join("/");
    return [{ kind: "raster", path, data_path: path, ...placeOf(tile), ...common, version_tag }];
  });
  if (members.length > 0) {
    const samples = members.slice(0, mostSamples);
    return { kind: "mosaic", members, samples, version_tag: changed, ...common };
  }
  const { "rmhdag:h3_dataset": dataset, "rmhdag:h3_period": period } = properties;
  if (dataset !== undefined && period !== undefined) {
    return { kind: "hexagons", dataset, period, version_tag: changed, ...common };
  }
  const table = own("features")?.["rmhdag:table"];
  return table === undefined
    ? undefined
    : { kind: "vector", table, version_tag: changed, ...common };
}

/** A copy of an item that does not say what it shows is taken for a picture. */
function copyOf(
  shows: string | undefined,
  style: LayerStyle | null,
): NonNullable<RasterLayer["copy"]> {
  return { shows: shows === "values" ? "values" : "picture", style };
}

function placeOf(data: z.infer<typeof asset>): Pick<RasterLayer, "wkt2" | "datum_shift" | "grid"> {
  const { "proj:shape": shape, "proj:transform": transform } = data;
  const grid =
    shape === undefined || transform === undefined
      ? undefined
      : { code: data["proj:code"] ?? null, width: shape[1], height: shape[0], transform };
  const datum_shift = data["rmhdag:datum_shift"] ?? null;
  return { wkt2: data["proj:wkt2"] ?? null, datum_shift, grid };
}

/** Reads the `default` of the render extension and ignores its fields for other programs. */
function readStyle(render: unknown): LayerStyle | null {
  if (typeof render !== "object" || render === null) return null;
  const names = Object.keys(layerStyle.shape);
  const known = Object.entries(render).filter(([name]) => names.includes(name));
  const bands = (render as { bidx?: unknown }).bidx;
  const parsed = layerStyle.safeParse({
    ...Object.fromEntries(known),
    ...(Array.isArray(bands) ? { bands } : {}),
  });
  return parsed.success && Object.keys(parsed.data).length > 0 ? parsed.data : null;
}
