/**
 * Masks of single bands, and nodata values that differ between bands, become one nodata value: a COG
 * holds one mask and one nodata value for all its bands.
 */
import { integerRange, toGdalType } from "./data-type.ts";
import type { DataType, NodataValue } from "./facts.ts";
import { isMask } from "./tiff-structure.ts";
import type { TiffStructure } from "./tiff-structure.ts";
import { escapeXml } from "./vrt.ts";

/** True: the TIFF has a mask with a sample for each band. */
export function hasMaskOfEachBand(structure: TiffStructure): boolean {
  return masksOf(structure).some(({ samples_per_pixel }) => samples_per_pixel > 1);
}

/** True: the TIFF has one mask for all bands. */
export function hasMaskOfAllBands(structure: TiffStructure): boolean {
  return masksOf(structure).some(({ samples_per_pixel }) => samples_per_pixel === 1);
}

function masksOf({ images }: TiffStructure) {
  const [main] = images;
  return images.filter(
    (image) => isMask(image) && image.width === main.width && image.height === main.height,
  );
}

/** Wider types of whole numbers, where a type has no value left. */
const wider: Partial<Readonly<Record<DataType, DataType>>> = {
  uint8: "int16",
  int8: "int16",
  uint16: "int32",
  int16: "int32",
  uint32: "float64",
  int32: "float64",
};

/** JavaScript and JSON hold whole numbers up to here. */
const mostExact = Number.MAX_SAFE_INTEGER;

/**
 * A value that no pixel with data has, and the type that holds it; undefined for complex numbers.
 * `ranges` are the smallest and largest values of the pixels with data, one for each band.
 */
export function chooseEmptyValue(
  type: DataType,
  ranges: readonly (readonly [least: number, most: number])[],
): { readonly type: DataType; readonly nodata: NodataValue } | undefined {
  if (type.startsWith("float")) return { type, nodata: "nan" };
  const range = integerRange(type);
  if (range === undefined) return undefined;
  const [bottom, top] = [Math.max(range.least, -mostExact), Math.min(range.most, mostExact)];
  const least = Math.min(top, ...ranges.map(([value]) => value));
  const most = Math.max(bottom, ...ranges.map(([, value]) => value));
  // Below the data first: signed numbers keep -32768 and the like for this by custom.
  if (least > bottom) return { type, nodata: bottom };
  if (most < top) return { type, nodata: top };
  const larger = wider[type];
  return larger === undefined ? undefined : chooseEmptyValue(larger, ranges);
}

/** The bands of one file, each with its own mask from the bands of another. */
export function bandMaskVrt(
  { width, height }: { readonly width: number; readonly height: number },
  types: readonly DataType[],
  files: { readonly bands: string; readonly masks: string },
): string {
  const source = (file: string, number: number) =>
    `<SimpleSource><SourceFilename relativeToVRT="0">${escapeXml(file)}</SourceFilename><SourceBand>${number}</SourceBand></SimpleSource>`;
  const bands = types.map((type, index) => {
    const mask = `<MaskBand><VRTRasterBand dataType="Byte">${source(files.masks, index + 1)}</VRTRasterBand></MaskBand>`;
    return `<VRTRasterBand dataType="${toGdalType(type)}" band="${index + 1}">${source(files.bands, index + 1)}${mask}</VRTRasterBand>`;
  });
  const head = `<VRTDataset rasterXSize="${width}" rasterYSize="${height}">`;
  return [head, ...bands, "</VRTDataset>"].join("\n");
}

/**
 * Rewrites the virtual raster that GDAL made of the bands, which has their names and metadata, so that
 * it reads `masked` and has the nodata value where a band's mask says that there is nothing.
 */
export function foldVrt(
  vrt: string,
  masked: string,
  { type, nodata }: { readonly type: DataType; readonly nodata: NodataValue },
): string {
  const name = `<SourceFilename relativeToVRT="0">${escapeXml(masked)}</SourceFilename>`;
  return vrt
    .replaceAll(/<NoDataValue>[^<]*<\/NoDataValue>\s*/g, "")
    .replaceAll(/<NODATA>[^<]*<\/NODATA>\s*/g, "")
    .replaceAll(/<VRTRasterBand dataType="\w+"([^>]*)>/g, (_, rest: string) => {
      return `<VRTRasterBand dataType="${toGdalType(type)}"${rest}><NoDataValue>${nodata}</NoDataValue>`;
    })
    .replaceAll(/<SourceFilename[^>]*>[^<]*<\/SourceFilename>/g, name)
    .replaceAll(/<(?:Simple|Complex)Source[^>]*>/g, "<ComplexSource>")
    .replaceAll(/<\/(?:Simple|Complex)Source>/g, "<UseMaskBand>true</UseMaskBand></ComplexSource>");
}
