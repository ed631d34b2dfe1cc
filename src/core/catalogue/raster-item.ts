import type { JsonObject } from "../model/json.ts";
import type { GeoTransform, Footprint } from "./footprint.ts";
import type { ItemTime } from "./moment.ts";
import type { BandFacts, RasterFacts } from "./raster-facts.ts";
import { cogMedia, extensions, stacVersion } from "./stac.ts";
import type { StacAsset, StacItem } from "./stac.ts";

/** One file in storage, with what was read from it. */
export interface RasterFile {
  /** `silver/…/x.tif` */
  readonly path: string;
  readonly bytes: number;
  /** Of the content, in hexadecimal. */
  readonly sha256?: string | undefined;
  readonly facts: RasterFacts;
}

export interface RasterItemFacts {
  readonly collection_id: string;
  readonly item_id: string;
  readonly title?: string | undefined;
  readonly footprint: Footprint;
  readonly time: ItemTime;
  /** One under `data`, or the tiles of one raster. */
  readonly files: readonly [RasterFile, ...RasterFile[]];
  /** Made for looking at: aligned to the tiles of web maps. */
  readonly visual?: RasterFile | undefined;
  readonly processing: Processing;
  /** The partner's own names of it, written as `platform:…`. */
  readonly platform?: Readonly<Record<string, string>> | undefined;
  readonly properties?: JsonObject | undefined;
  /** How it is best shown; the render extension's `default`. */
  readonly render?: JsonObject | undefined;
}

export interface Processing {
  /** When the file was written. */
  readonly datetime: string;
  /** In words: what was done to what. */
  readonly lineage?: string | undefined;
  /** Name and version. */
  readonly software: Readonly<Record<string, string>>;
  /** Where it came from. */
  readonly derived_from?: string | undefined;
}

export function buildRasterItem(given: RasterItemFacts): StacItem {
  const { collection_id, item_id, files, visual, render } = given;
  const [first] = files;
  const href = (key: string) => assetHref(collection_id, item_id, key);
  const assets: Record<string, StacAsset> =
    files.length === 1
      ? { data: rasterAsset(first, href("data"), ["data"]) }
      : Object.fromEntries(
          files.map((file, index) => {
            const key = `tile_${index}`;
            return [key, rasterAsset(file, href(key), ["data", "tile"])];
          }),
        );
  if (visual !== undefined) assets["visual"] = rasterAsset(visual, href("visual"), ["visual"]);
  return {
    type: "Feature",
    stac_version: stacVersion,
    stac_extensions: [
      ...[extensions.projection, extensions.raster, extensions.file, extensions.processing],
      ...(render === undefined ? [] : [extensions.render]),
    ],
    id: item_id,
    collection: collection_id,
    geometry: given.footprint.geometry,
    bbox: [...given.footprint.bbox],
    properties: {
      ...given.properties,
      ...itemProperties(given),
      "proj:code": first.facts.crs?.code ?? null,
      ...(render === undefined
        ? {}
        : {
            renders: { default: { assets: [visual === undefined ? "data" : "visual"], ...render } },
          }),
    },
    links: [],
    assets,
  };
}

/** Where the platform serves an asset; made absolute when it is told to a client. */
export function assetHref(collectionId: string, itemId: string, key: string): string {
  return `/stac/collections/${collectionId}/items/${itemId}/assets/${key}`;
}

export function itemProperties(
  given: Pick<RasterItemFacts, "title" | "time" | "processing" | "platform">,
): StacItem["properties"] {
  const { title, time, processing, platform = {} } = given;
  const { lineage, derived_from } = processing;
  return {
    ...(title === undefined ? {} : { title }),
    ...time,
    "processing:datetime": processing.datetime,
    "processing:software": { ...processing.software },
    ...(lineage === undefined ? {} : { "processing:lineage": lineage }),
    ...(derived_from === undefined ? {} : { "rmhdag:derived_from": derived_from }),
    ...Object.fromEntries(Object.entries(platform).map(([key, name]) => [`platform:${key}`, name])),
  };
}

function rasterAsset(file: RasterFile, href: string, roles: string[]): StacAsset {
  const { facts, path, bytes, sha256 } = file;
  const { crs, transform, width, height } = facts;
  return {
    href,
    type: cogMedia,
    roles,
    ...(crs === undefined ? {} : { "proj:code": crs.code }),
    // Without a code the definition itself has to be there.
    ...(crs?.code === null ? { "proj:wkt2": crs.wkt2 } : {}),
    "proj:shape": [height, width],
    ...(transform === undefined ? {} : placed(transform, width, height)),
    bands: facts.bands.map((band, index) => describeBand(band, index, facts)),
    "file:size": bytes,
    ...(sha256 === undefined ? {} : { "file:checksum": `1220${sha256.toLowerCase()}` }),
    "rmhdag:path": path,
  };
}

/** GDAL counts from the origin, STAC writes the rows of the matrix. */
function placed([x0, dx, rx, y0, ry, dy]: GeoTransform, width: number, height: number) {
  const corners = [
    [0, 0],
    [width, 0],
    [0, height],
    [width, height],
  ].map(([c = 0, r = 0]) => [x0 + c * dx + r * rx, y0 + c * ry + r * dy] as const);
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  return {
    "proj:transform": [dx, rx, x0, ry, dy, y0],
    "proj:bbox": [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
  };
}

function describeBand(band: BandFacts, index: number, facts: RasterFacts): JsonObject {
  const { data_type, nodata, description, color, unit, scale, offset, statistics } = band;
  const [, dx] = facts.transform ?? [];
  const metric = facts.crs !== undefined && /^PROJC(RS|S)\[/.test(facts.crs.wkt2);
  return {
    name: color === undefined || color === "gray" ? `b${index + 1}` : color,
    data_type,
    ...(nodata === undefined ? {} : { nodata }),
    ...(description === undefined || description === "" ? {} : { description }),
    ...(unit === undefined || unit === "" ? {} : { unit }),
    ...(statistics === undefined ? {} : { statistics: { ...statistics } }),
    "raster:sampling": facts.sampling,
    ...(scale === undefined ? {} : { "raster:scale": scale }),
    ...(offset === undefined ? {} : { "raster:offset": offset }),
    ...(metric && dx !== undefined && dx !== 0
      ? { "raster:spatial_resolution": Math.abs(dx) }
      : {}),
  };
}
