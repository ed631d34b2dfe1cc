/**
 * The schemas of STAC 1.1 as we write and accept it. Fields that a schema does not name are kept.
 */
import { z } from "zod";
import { moment } from "../model/moment.ts";
import { bboxSchema, simpleGeometry } from "../geometry/geometry.ts";

export const stacVersion = "1.1.0";

export const extensions = {
  projection: "https://stac-extensions.github.io/projection/v2.0.0/schema.json",
  /** The one version that has both `proj:code` and `proj:epsg`. */
  projectionWithEpsg: "https://stac-extensions.github.io/projection/v1.2.0/schema.json",
  raster: "https://stac-extensions.github.io/raster/v2.0.0/schema.json",
  file: "https://stac-extensions.github.io/file/v2.1.0/schema.json",
  processing: "https://stac-extensions.github.io/processing/v1.2.0/schema.json",
  render: "https://stac-extensions.github.io/render/v2.0.0/schema.json",
  table: "https://stac-extensions.github.io/table/v1.2.0/schema.json",
  webMapLinks: "https://stac-extensions.github.io/web-map-links/v1.2.0/schema.json",
  classification: "https://stac-extensions.github.io/classification/v2.0.0/schema.json",
} as const;

/** QGIS recognises a COG by exactly this text. */
export const cogMedia = "image/tiff; application=geotiff; profile=cloud-optimized";
export const geotiffMedia = "image/tiff; application=geotiff";

const link = z.looseObject({
  rel: z.string().min(1),
  href: z.string().min(1),
  type: z.string().optional(),
  title: z.string().optional(),
});
export type StacLink = z.infer<typeof link>;

const asset = z.looseObject({
  href: z.string().min(1),
  type: z.string().optional(),
  title: z.string().optional(),
  roles: z.array(z.string()).optional(),
  /** The path in storage. Clients use the href instead, which checks their rights. */
  "rmhdag:path": z.string().optional(),
  /** The table that holds the features. */
  "rmhdag:table": z.string().optional(),
});
export type StacAsset = z.infer<typeof asset>;

const properties = z
  .looseObject({
    datetime: moment.nullable(),
    start_datetime: moment.optional(),
    end_datetime: moment.optional(),
  })
  .refine(
    ({ datetime, start_datetime, end_datetime }) =>
      datetime !== null || (start_datetime !== undefined && end_datetime !== undefined),
    "needs start_datetime and end_datetime where datetime is null",
  );

export const identifierPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
const identifier = z.string().min(1).max(255).regex(identifierPattern);

export const stacItem = z.looseObject({
  type: z.literal("Feature"),
  stac_version: z.literal(stacVersion),
  stac_extensions: z.array(z.string()),
  id: identifier,
  collection: identifier,
  geometry: simpleGeometry,
  bbox: bboxSchema,
  properties,
  links: z.array(link),
  assets: z.record(z.string().regex(identifierPattern), asset),
});
export type StacItem = z.infer<typeof stacItem>;

export const stacCollection = z.looseObject({
  type: z.literal("Collection"),
  stac_version: z.literal(stacVersion),
  stac_extensions: z.array(z.string()),
  id: identifier,
  title: z.string().optional(),
  description: z.string().min(1),
  keywords: z.array(z.string()).optional(),
  license: z.string().min(1),
  extent: z.object({
    spatial: z.object({ bbox: z.array(z.array(z.number()).length(4)).min(1) }),
    temporal: z.object({ interval: z.array(z.tuple([moment.nullable(), moment.nullable()])) }),
  }),
  links: z.array(link),
});
export type StacCollection = z.infer<typeof stacCollection>;

/** The files and tables that an item uses, for deleting and for finding leftovers. */
export function sourcesOf(item: StacItem): { paths: string[]; tables: string[] } {
  const assets = Object.values(item.assets);
  const all = (key: "rmhdag:path" | "rmhdag:table") => [
    ...new Set(assets.flatMap((each) => each[key] ?? [])),
  ];
  return { paths: all("rmhdag:path"), tables: all("rmhdag:table") };
}

/** The time span that an item covers; a single moment is a span of length zero. */
export function spanOf({ properties: { datetime, start_datetime, end_datetime } }: StacItem): {
  start: string;
  end: string;
} {
  const start = start_datetime ?? datetime;
  const end = end_datetime ?? datetime;
  if (start == null || end == null) throw new Error("an item without any time");
  return { start, end };
}

/**
 * Makes an id from a path, `silver/job/node/Terrain 1.tif` → `job-node-Terrain_1`: as unique as the
 * path, and short enough.
 */
export function itemIdFor(path: string): string {
  const withoutZone = path.slice(path.indexOf("/") + 1);
  const stem = withoutZone.replace(/\.[A-Za-z0-9]{1,5}$/, "");
  const safe = stem.replaceAll("/", "-").replaceAll(/[^A-Za-z0-9_.-]/g, "_");
  return (
    safe
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(-200)
      .replace(/^[^A-Za-z0-9]+/, "") || "item"
  );
}
