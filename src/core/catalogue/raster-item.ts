import type { JsonObject } from "../model/json.ts";
import { colourOf } from "../raster/band-names.ts";
import type { RasterBand, RasterClass, RasterFacts } from "../raster/facts.ts";
import type { Transformation } from "../raster/transformation.ts";
import { boundsOf, dataBands } from "../raster/inspected.ts";
import type { Footprint } from "./footprint.ts";
import type { ItemTime } from "./moment.ts";
import { isAddress } from "./reference.ts";
import { cogMedia, extensions, geotiffMedia, stacVersion } from "./stac.ts";
import type { StacAsset, StacItem } from "./stac.ts";

/**
 * The facts about a file that an item states. They are complete for files that a handler made, and
 * partial for others.
 */
export type DescribedRaster = Pick<
  RasterFacts,
  | "width"
  | "height"
  | "crs"
  | "transform"
  | "bands"
  | "sampling"
  | "datetime"
  | "time_span"
  | "classes"
  | "raster_type"
> & { readonly checksum?: string };

/** One file in storage, with the facts that were read from it. */
export interface RasterFile {
  /** `silver/…/x.tif` */
  readonly path: string;
  readonly bytes: number;
  readonly is_cog: boolean;
  readonly facts: DescribedRaster;
}

export interface RasterItemFacts {
  readonly collection_id: string;
  readonly item_id: string;
  readonly title?: string | null | undefined;
  readonly footprint: Footprint;
  readonly time: ItemTime;
  /** The data: one file, or the tiles of one raster. */
  readonly files: readonly RasterFile[];
  /** A copy for display, aligned to the tiles of web maps. */
  readonly visual?: RasterFile | undefined;
  readonly processing: Processing;
  /** The partner's own names of the item, written as `platform:…`. */
  readonly platform?: Readonly<Record<string, string>> | null | undefined;
  readonly properties?: JsonObject | null | undefined;
  /** How the item is shown by default (`default` of the render extension). */
  readonly render?: JsonObject | null | undefined;
}

export interface Processing {
  /** When the file was written. */
  readonly datetime: string;
  /** The processing in words. */
  readonly lineage?: string | null | undefined;
  /** Names and versions. */
  readonly software: Readonly<Record<string, string>>;
  /** The address of the source. */
  readonly derived_from?: string | null | undefined;
}

export function buildRasterItem(given: RasterItemFacts): StacItem {
  const { collection_id, item_id, files, visual, render } = given;
  const href = (key: string) => assetHref(collection_id, item_id, key);
  const isOne = files.length === 1;
  const assets: Record<string, StacAsset> = Object.fromEntries(
    files.map((file, index) => {
      const key = isOne ? "data" : `tile_${index}`;
      const asset = describeFile(file, href(key), isOne ? ["data"] : ["data", "tile"]);
      return [key, { ...asset, ...describePlace(given.footprint) }];
    }),
  );
  if (visual !== undefined) {
    const shows = isPicture(files[0]?.facts, visual.facts) ? "picture" : "values";
    const asset = describeFile(visual, href("visual"), ["visual"]);
    assets["visual"] = { ...asset, "rmhdag:shows": shows };
  }
  return {
    type: "Feature",
    stac_version: stacVersion,
    stac_extensions: [
      extensions.projection,
      extensions.raster,
      extensions.file,
      extensions.processing,
      ...(render == null ? [] : [extensions.render]),
      ...(files.some(({ facts }) => facts.classes !== undefined)
        ? [extensions.classification]
        : []),
    ],
    id: item_id,
    collection: collection_id,
    geometry: given.footprint.geometry,
    bbox: [...given.footprint.bbox],
    properties: {
      ...given.properties,
      ...itemProperties(given),
      "proj:code": files[0]?.facts.crs.code ?? null,
      ...(render == null
        ? {}
        : { renders: { default: { assets: [isOne ? "data" : "tile_0"], ...render } } }),
    },
    links: [],
    assets,
  };
}

/** How the places of an item were brought to WGS 84; `accuracy` is in metres. */
export function describeOperation({
  operation,
  accuracy,
  missing_grids,
}: Transformation): JsonObject {
  return {
    operation,
    accuracy,
    ...(missing_grids.length === 0 ? {} : { missing_grids: [...missing_grids] }),
  };
}

/** True: the copy has colours. False: it has the values of the data, to which a style applies. */
function isPicture(data: DescribedRaster | undefined, visual: DescribedRaster): boolean {
  const [own, shown] = [dataBands(data?.bands ?? []), dataBands(visual.bands)];
  const isAlike = own.every((band, index) => band.data_type === shown[index]?.data_type);
  const isPalette = own[0]?.color === "palette" && shown[0]?.color !== "palette";
  return own.length !== shown.length || !isAlike || isPalette;
}

/** The path at which the platform serves an asset; `linkItem` makes it absolute. */
export function assetHref(collectionId: string, itemId: string, key: string): string {
  return `/stac/collections/${collectionId}/items/${itemId}/assets/${key}`;
}

export function itemProperties(
  given: Pick<RasterItemFacts, "title" | "time" | "processing" | "platform">,
): StacItem["properties"] {
  const { title, time, processing, platform } = given;
  const { lineage, derived_from } = processing;
  const names: [string, string][] = Object.entries(platform ?? {}).map(([key, name]) => [
    `platform:${key}`,
    name,
  ]);
  return {
    ...(title == null ? {} : { title }),
    ...time,
    "processing:datetime": processing.datetime,
    "processing:software": { ...processing.software },
    ...(lineage == null ? {} : { "processing:lineage": lineage }),
    ...(derived_from == null ? {} : { "rmhdag:derived_from": derived_from }),
    ...Object.fromEntries(names),
  };
}

/** How a raster was brought to WGS 84, for the server that draws it and for its readers. */
export function describePlace({ datum_shift: shift, transformation: used }: Footprint): JsonObject {
  return {
    ...(shift == null ? {} : { "rmhdag:datum_shift": [...shift] }),
    ...(used === undefined ? {} : { "rmhdag:transformation": describeOperation(used) }),
  };
}

/** The asset of a file; `served` is its address here. A file on another server has its own. */
export function describeFile(file: RasterFile, served: string, roles: string[]): StacAsset {
  const { facts, path, bytes } = file;
  const isElsewhere = isAddress(path);
  const { crs, transform, width, height, checksum } = facts;
  return {
    href: isElsewhere ? path : served,
    type: file.is_cog ? cogMedia : geotiffMedia,
    roles,
    "proj:code": crs.code,
    // Also beside a code, because a client may not have the register that the code is from.
    "proj:wkt2": crs.wkt2,
    "proj:shape": [height, width],
    "proj:transform": [...transform],
    "proj:bbox": [...boundsOf({ width, height, transform })],
    bands: facts.bands.map((band) => describeBand(band, facts)),
    ...(facts.classes === undefined
      ? {}
      : { "classification:classes": facts.classes.map(describeClass) }),
    "file:size": bytes,
    ...(checksum === undefined ? {} : { "file:checksum": checksum }),
    ...(isElsewhere ? {} : { "rmhdag:path": path }),
  };
}

function describeBand(band: RasterBand, facts: DescribedRaster): JsonObject {
  const { data_type, nodata, description, color, unit, scale, offset, statistics } = band;
  const resolution = Math.abs(facts.transform[0]);
  // Only for projected systems, because degrees are not a length.
  const isMetric = /^PROJC(?:RS|S)\[/.test(facts.crs.wkt2) && resolution > 0;
  return {
    name: color === "alpha" ? color : (colourOf(band) ?? band.name),
    data_type,
    ...(nodata === null ? {} : { nodata }),
    ...(description === null ? {} : { description }),
    ...(unit === null ? {} : { unit }),
    ...(statistics === null ? {} : { statistics: withoutNulls(statistics) }),
    "raster:sampling": facts.sampling,
    ...(scale === null || scale === 1 ? {} : { "raster:scale": scale }),
    ...(offset === null || offset === 0 ? {} : { "raster:offset": offset }),
    ...(isMetric ? { "raster:spatial_resolution": resolution } : {}),
  };
}

/** The extension allows names of letters, digits, - and _; the file's own name is the description. */
function describeClass({ value, name, color }: RasterClass): JsonObject {
  const plain = name.replaceAll(/[^0-9A-Za-z_-]+/g, "_").replaceAll(/^_+|_+$/g, "");
  return {
    value,
    name: plain === "" ? `class_${value}` : plain,
    description: name,
    ...(color === undefined ? {} : { color_hint: color.toUpperCase() }),
  };
}

function withoutNulls(values: Readonly<Record<string, number | null>>): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}
