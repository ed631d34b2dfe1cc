/** Reads the header of a Cloud-Optimized GeoTIFF, and refuses a file that cannot be shown. */
import type { Source, TiffImage } from "@cogeotiff/core";
import { SubFileType, Tiff, TiffTag } from "@cogeotiff/core";
import { Problem } from "../../core/errors.ts";
import type { Affine } from "../../core/serving/affine.ts";
import { apply, invert } from "../../core/serving/affine.ts";
import { findExtent } from "../../core/serving/coverage.ts";
import { toMercator, zoomFor } from "../../core/serving/web-mercator.ts";
import { makeProjection } from "./projection.ts";
import type { Level, RasterFile, SampleType } from "./raster-file.ts";

/** A block is decoded in memory: a header that claims a larger one is a mistake or an attack. */
const mostBlockBytes = 64 * 1024 * 1024;

export async function openRaster(
  source: Source,
  options: { readonly key: string; readonly wkt2?: string | undefined },
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
  const code = main.epsg ?? undefined;
  const { width, height } = full;
  const projection = makeProjection(code, options.wkt2);
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

/** `minZoom` shows the raster in one tile, `maxZoom` shows it pixel for pixel. */
function findZooms(
  raster: Pick<RasterFile, "levels" | "toCoordinates" | "toDegrees">,
): Pick<RasterFile, "minZoom" | "maxZoom"> {
  const [full] = raster.levels;
  const { width, height } = full;
  const mercator = (column: number, row: number) => {
    const found = raster.toDegrees(...apply(raster.toCoordinates, column, row));
    return found && toMercator(found[0], found[1]);
  };
  const middle = mercator(width / 2, height / 2);
  const beside = mercator(width / 2 + 1, height / 2);
  const below = mercator(width / 2, height / 2 + 1);
  if (middle === undefined || beside === undefined || below === undefined) {
    return { minZoom: 0, maxZoom: 0 };
  }
  const area = Math.abs(
    (beside[0] - middle[0]) * (below[1] - middle[1]) -
      (beside[1] - middle[1]) * (below[0] - middle[0]),
  );
  const resolution = Math.sqrt(area);
  const reduction = Math.max(1, Math.max(width, height) / 256);
  return { minZoom: zoomFor(resolution * reduction), maxZoom: zoomFor(resolution) };
}
