/** Reads the header of a Cloud-Optimized GeoTIFF, and refuses a file that cannot be shown. */
import type { Source, TiffImage } from "@cogeotiff/core";
import {
  ModelTypeCode,
  RasterTypeKey,
  SubFileType,
  Tiff,
  TiffTag,
  TiffTagGeo,
} from "@cogeotiff/core";
import { Problem } from "../../core/errors.ts";
import type { Affine } from "../../core/serving/affine.ts";
import { apply, invert } from "../../core/serving/affine.ts";
import type { DatumShift } from "../../core/raster/proj-definition.ts";
import { findExtent } from "../../core/serving/coverage.ts";
import { halfWorld, mostLatitude, toMercator, zoomFor } from "../../core/serving/web-mercator.ts";
import { makeProjection } from "./projection.ts";
import type { Level, RasterFile, SampleType } from "./raster-file.ts";

/** A block is decoded in memory: a header that claims a larger one is a mistake or an attack. */
const mostBlockBytes = 64 * 1024 * 1024;

export async function openRaster(
  source: Source,
  options: {
    readonly key: string;
    readonly wkt2?: string | undefined;
    readonly shift?: DatumShift | null | undefined;
  },
): Promise<RasterFile> {
  const tiff = await readHeader(source);
  const [main] = tiff.images;
  if (main === undefined) throw unreadable("it has no image");
  await Promise.all(tiff.images.map(loadTags));
  const samples = main.value(TiffTag.SamplesPerPixel) ?? 1;
  const sampleType = readSampleType(main);
  const levels = readLevels(tiff.images);
  const [full] = levels;
  if (full.blockWidth * full.blockHeight * samples * 8 > mostBlockBytes) {
    throw unreadable("its blocks are too large; ingest it again");
  }
  const toCoordinates = readAffine(main);
  const toPixels = invert(toCoordinates);
  if (toPixels === undefined) throw unreadable("its pixels have no area");
  const code = readCode(main);
  const { width, height } = full;
  const projection = makeProjection(code, options.wkt2, options.shift);
  const extent = findExtent({ width, height, toCoordinates, toPixels, ...projection });
  if (extent === undefined) throw unreadable("it has no place on the globe");
  const alphaBand = hasAlpha(main) ? samples : undefined;
  const photometric = main.value(TiffTag.Photometric) as number | null;
  const raster = {
    key: options.key,
    levels,
    sampleType,
    samples,
    bandCount: alphaBand === undefined ? samples : samples - 1,
    alphaBand,
    isColour: (photometric === 2 || photometric === 6) && samples >= 3,
    palette: photometric === 3 ? readPalette(main) : undefined,
    nodata: readNodata(main),
    descriptions: readDescriptions(main, samples),
    isLittleEndian: tiff.isLittleEndian,
    toCoordinates,
    toPixels,
    code,
    ...projection,
    extent,
  };
  return { ...raster, ...findZooms(raster) };
}

/** The EPSG code that a GeoTIFF names, of any layout. */
export async function readTiffCrs(source: Source): Promise<number | undefined> {
  const [main] = (await readHeader(source)).images;
  return main && readCode(main);
}

function unreadable(reason: string): Problem {
  return new Problem("LAYER_UNREADABLE", `The layer's file cannot be shown: ${reason}.`);
}

async function readHeader(source: Source): Promise<Tiff> {
  try {
    return await Tiff.create(source);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw unreadable(error instanceof Error ? error.message : String(error));
  }
}

/** Loads the small tags, which every block needs. The tables of block offsets stay in the file. */
async function loadTags(image: TiffImage): Promise<void> {
  const tags = [
    TiffTag.SubFileType,
    TiffTag.BitsPerSample,
    TiffTag.SampleFormat,
    TiffTag.SamplesPerPixel,
    TiffTag.Photometric,
    TiffTag.PlanarConfiguration,
    TiffTag.Predictor,
    TiffTag.JpegTables,
    TiffTag.RowsPerStrip,
    TiffTag.ExtraSamples,
    TiffTag.ColorMap,
    TiffTag.GdalNoData,
    TiffTag.GdalMetadata,
    TiffTag.LercParameters,
  ] as const;
  await Promise.all(tags.filter((tag) => image.has(tag)).map((tag) => image.fetch(tag)));
}

function readSampleType(image: TiffImage): SampleType {
  const bits = [image.value(TiffTag.BitsPerSample) ?? 1].flat();
  const formats = [image.value(TiffTag.SampleFormat) ?? 1].flat();
  const format = formats[0] === 3 ? "float" : formats[0] === 2 ? "int" : "uint";
  const name = `${format}${bits[0] ?? 1}`;
  const isUniform = bits.every((each) => each === bits[0]);
  const known: readonly string[] = Object.keys(bytesOf);
  if (isUniform && known.includes(name) && (formats[0] ?? 1) <= 3) return name as SampleType;
  throw unreadable(`samples of ${name} are not supported`);
}

export const bytesOf: Readonly<Record<SampleType, number>> = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float32: 4,
  float64: 8,
};

function readLevels(images: readonly TiffImage[]): readonly [Level, ...Level[]] {
  const kindOf = (image: TiffImage) => (image.value(TiffTag.SubFileType) as number | null) ?? 0;
  const masks = images.filter((image) => (kindOf(image) & SubFileType.Mask) !== 0);
  const pictures = images.filter(
    (image, index) =>
      (kindOf(image) & SubFileType.Mask) === 0 &&
      (index === 0 || (kindOf(image) & SubFileType.ReducedImage) !== 0),
  );
  const levels = pictures.map((image): Level => {
    const { width, height } = image.size;
    const block = image.isTiled()
      ? image.tileSize
      : {
          width,
          height: Math.min(height, (image.value(TiffTag.RowsPerStrip) as number | null) ?? height),
        };
    const mask = masks.find(({ size }) => size.width === width && size.height === height);
    return { width, height, blockWidth: block.width, blockHeight: block.height, image, mask };
  });
  const [first, ...others] = levels.toSorted((a, b) => b.width - a.width);
  if (first === undefined) throw unreadable("it has no image");
  return [first, ...others];
}

function readAffine(image: TiffImage): Affine {
  const [a, b, c, d, e, f] = readStoredAffine(image);
  if (image.valueGeo(TiffTagGeo.GTRasterTypeGeoKey) !== RasterTypeKey.PixelIsPoint) {
    return [a, b, c, d, e, f];
  }
  // PixelIsPoint: the file states the place of a pixel's centre, and not of its corner.
  return [a, b, c - (a + b) / 2, d, e, f - (d + e) / 2];
}

function readStoredAffine(image: TiffImage): Affine {
  const matrix = image.value(TiffTag.ModelTransformation);
  if (matrix !== null) {
    const [a, b, , c, d, e, , f] = matrix;
    return [a, b, c, d, e, f];
  }
  const scale = image.value(TiffTag.ModelPixelScale);
  const tie = image.value(TiffTag.ModelTiePoint);
  if (scale === null || tie === null) throw unreadable("it does not say where it lies");
  const [width, height] = scale;
  const [column = 0, row = 0, , x = 0, y = 0] = tie;
  return [width, 0, x - column * width, 0, -height, y + row * height];
}

/** 32767 stands for a system that the file defines itself. */
const userDefined = 32_767;

/**
 * The EPSG code of the file's own system. The key of a projection (3074) is not read: it numbers a
 * way to compute coordinates, and not a system.
 */
function readCode(image: TiffImage): number | undefined {
  const model = image.valueGeo(TiffTagGeo.GTModelTypeGeoKey);
  const isGeographic = model === ModelTypeCode.Geographic;
  if (!isGeographic && model !== ModelTypeCode.Projected) return undefined;
  const code = image.valueGeo(
    isGeographic ? TiffTagGeo.GeodeticCRSGeoKey : TiffTagGeo.ProjectedCRSGeoKey,
  );
  return typeof code === "number" && code > 0 && code < userDefined ? code : undefined;
}

function hasAlpha(image: TiffImage): boolean {
  const extra = [(image.value(TiffTag.ExtraSamples) as number | number[] | null) ?? []].flat();
  return extra.at(-1) === 1 || extra.at(-1) === 2;
}

function readNodata(image: TiffImage): number | undefined {
  const text = image.value(TiffTag.GdalNoData);
  if (text === null) return undefined;
  // GDAL ends the text with a NUL and may write "nan".
  const trimmed = text.replace(/\0.*$/s, "").trim();
  if (/^-?nan$/i.test(trimmed)) return Number.NaN;
  const value = Number(trimmed);
  return trimmed === "" || Number.isNaN(value) ? undefined : value;
}

/** A TIFF stores 16 bits a colour: all reds, then all greens, then all blues. */
function readPalette(image: TiffImage): Uint8Array | undefined {
  const colours = image.value(TiffTag.ColorMap) as ArrayLike<number> | null;
  if (colours === null) return undefined;
  const count = colours.length / 3;
  const table = new Uint8Array(count * 4);
  for (let index = 0; index < count; index++) {
    for (const part of [0, 1, 2]) {
      table[4 * index + part] = (colours[part * count + index] ?? 0) >> 8;
    }
    table[4 * index + 3] = 255;
  }
  return table;
}

function readDescriptions(image: TiffImage, samples: number): string[] {
  const text = image.value(TiffTag.GdalMetadata) ?? "";
  const found = new Map<number, string>();
  for (const [item, value = ""] of text.matchAll(/<Item\b[^>]*role="description"[^>]*>([^<]*)/g)) {
    found.set(Number(/sample="(\d+)"/.exec(item)?.[1] ?? 0), value);
  }
  return Array.from({ length: samples }, (_, index) => found.get(index) ?? "");
}

/** Places within the raster, in shares of its sides, at which the size of a pixel is measured. */
const shares = [0.5, 0.25, 0.75, 0.05, 0.95];

/** `minZoom` shows the raster in one tile, `maxZoom` shows it pixel for pixel. */
function findZooms(
  raster: Pick<RasterFile, "levels" | "toCoordinates" | "toDegrees">,
): Pick<RasterFile, "minZoom" | "maxZoom"> {
  const [full] = raster.levels;
  const { width, height } = full;
  const sizes = shares
    .flatMap((x) => shares.map((y) => pixelSize(raster, x * width, y * height)))
    .filter((size) => size !== undefined)
    .toSorted((a, b) => a - b);
  const resolution = sizes[Math.floor(sizes.length / 2)];
  // Web Mercator ends before the poles: a raster that lies beyond is not on the map.
  if (resolution === undefined) return { minZoom: 0, maxZoom: 0 };
  const reduction = Math.max(1, Math.max(width, height) / 256);
  return { minZoom: zoomFor(resolution * reduction), maxZoom: zoomFor(resolution) };
}

/** The side of a pixel in metres of web Mercator; undefined where that has no such place. */
function pixelSize(
  raster: Pick<RasterFile, "toCoordinates" | "toDegrees">,
  column: number,
  row: number,
): number | undefined {
  const mercator = (x: number, y: number) => {
    const found = raster.toDegrees(...apply(raster.toCoordinates, x, y));
    if (found === undefined || Math.abs(found[1]) >= mostLatitude) return undefined;
    return toMercator(found[0], found[1]);
  };
  const middle = mercator(column, row);
  const beside = mercator(column + 1, row);
  const below = mercator(column, row + 1);
  if (middle === undefined || beside === undefined || below === undefined) return undefined;
  const across = (from: number, to: number) => {
    const step = Math.abs(to - from);
    // A step over the antimeridian.
    return step > halfWorld ? 2 * halfWorld - step : step;
  };
  const area =
    across(middle[0], beside[0]) * across(middle[1], below[1]) +
    across(middle[1], beside[1]) * across(middle[0], below[0]);
  return area > 0 ? Math.sqrt(area) : undefined;
}
