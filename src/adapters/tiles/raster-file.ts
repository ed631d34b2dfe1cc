import type { TiffImage } from "@cogeotiff/core";
import type { Affine } from "../../core/serving/affine.ts";
import type { Extent } from "../../core/serving/coverage.ts";
import { toBounds } from "../../core/serving/coverage.ts";
import type { Project } from "../../core/serving/pixel-map.ts";
import type { RasterInfo } from "../../core/serving/raster-info.ts";

export const sampleTypes = [
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "float32",
  "float64",
] as const;
export type SampleType = (typeof sampleTypes)[number];

/** Their values are exact in floats of 32 bits. */
const short: ReadonlySet<SampleType> = new Set(["uint8", "int8", "uint16", "int16", "float32"]);

export function fitsSingle(type: SampleType): boolean {
  return short.has(type);
}

/** One resolution of a raster; the first is the full one. */
export interface Level {
  readonly width: number;
  readonly height: number;
  readonly blockWidth: number;
  readonly blockHeight: number;
  readonly image: TiffImage;
  /** Of the same size, one bit or byte a pixel. */
  readonly mask: TiffImage | undefined;
}

/** An opened Cloud-Optimized GeoTIFF: the checked contents of its header. */
export interface RasterFile {
  /** For the caches: path and version. */
  readonly key: string;
  readonly levels: readonly [Level, ...Level[]];
  readonly sampleType: SampleType;
  readonly samples: number;
  /** From 1; without the alpha band. */
  readonly bandCount: number;
  /** From 1. */
  readonly alphaBand: number | undefined;
  readonly isColour: boolean;
  /** Of a palette: 256 or 65536 colours, red green blue alpha. */
  readonly palette: Uint8Array | undefined;
  readonly nodata: number | undefined;
  readonly descriptions: readonly string[];
  readonly isLittleEndian: boolean;
  readonly toCoordinates: Affine;
  readonly toPixels: Affine;
  /** EPSG, where the file says it. */
  readonly code: number | undefined;
  readonly isWebMercator: boolean;
  readonly toDegrees: Project;
  readonly fromDegrees: Project;
  readonly extent: Extent;
  readonly minZoom: number;
  readonly maxZoom: number;
}

export function describeRaster(raster: RasterFile): RasterInfo {
  const [full, ...overviews] = raster.levels;
  const { nodata, alphaBand, samples } = raster;
  const colours = ["red", "green", "blue"];
  return {
    bounds: [...toBounds(raster.extent)],
    crs: raster.code === undefined ? null : `http://www.opengis.net/def/crs/EPSG/0/${raster.code}`,
    driver: "GTiff",
    width: full.width,
    height: full.height,
    count: samples,
    dtype: raster.sampleType,
    colorinterp: Array.from({ length: samples }, (_, index) =>
      index + 1 === alphaBand
        ? "alpha"
        : raster.isColour
          ? (colours[index] ?? "undefined")
          : raster.palette !== undefined
            ? "palette"
            : index === 0
              ? "gray"
              : "undefined",
    ),
    nodata_type:
      nodata !== undefined
        ? "Nodata"
        : alphaBand !== undefined
          ? "Alpha"
          : full.mask !== undefined
            ? "Mask"
            : "None",
    nodata_value: nodata === undefined ? null : Number.isNaN(nodata) ? "nan" : nodata,
    overviews: overviews.map(({ width }) => Math.round(full.width / width)),
    minzoom: raster.minZoom,
    maxzoom: raster.maxZoom,
    band_descriptions: raster.descriptions.map((text, index) => [`b${index + 1}`, text]),
  };
}
