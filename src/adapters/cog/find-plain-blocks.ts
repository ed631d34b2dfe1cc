import { blocksOf, largestServedBlock } from "../../core/raster/tiff-structure.ts";
import type { TiffImage } from "../../core/raster/tiff-structure.ts";
import type { SampleType } from "../tiles/raster-file.ts";
import type { ByteSource } from "./byte-source.ts";
import { TiffError, buffered, withFile } from "./byte-source.ts";
import type { Directory } from "./read-directory.ts";
import { readDirectory } from "./read-directory.ts";
import { readHeader, readTiffStructure } from "./read-tiff-structure.ts";

/** The blocks of a TIFF's first image, in a form that needs no library to decode. */
export interface PlainBlocks {
  readonly file: string;
  readonly width: number;
  readonly height: number;
  readonly blockWidth: number;
  readonly blockHeight: number;
  readonly isTiled: boolean;
  readonly isDeflated: boolean;
  readonly predictor: number;
  readonly samples: number;
  readonly sampleType: SampleType;
  readonly sampleBytes: number;
  /** NaN where the file names none. */
  readonly nodata: number;
  readonly offsets: ArrayLike<number>;
  readonly bytes: ArrayLike<number>;
}

const tags = { bits: 258, fillOrder: 266, format: 339, nodata: 42_113 } as const;
/** Of all bands together: forty bytes are held for each. */
const mostBlocks = 1_000_000;
const mostSamples = 64;
const longestNodata = 64;
const codes = { none: 1, deflate: 8, oldDeflate: 32_946 } as const;
/** White or black is zero, red green blue, and colours by number: samples are stored as they are. */
const plainColours = 3;

const types = new Map<string, SampleType>([
  ["8 1", "uint8"],
  ["16 1", "uint16"],
  ["32 1", "uint32"],
  ["16 2", "int16"],
  ["32 2", "int32"],
  ["32 3", "float32"],
  ["64 3", "float64"],
]);

/** Undefined for any other file, which GDAL reads; a damaged one too, which GDAL describes. */
export async function findPlainBlocks(file: string): Promise<PlainBlocks | undefined> {
  try {
    return await withFile(file, (source) => find(file, buffered(source)));
  } catch (error) {
    if (error instanceof TiffError) return undefined;
    throw error;
  }
}

async function find(file: string, source: ByteSource): Promise<PlainBlocks | undefined> {
  const { layout, first } = await readHeader(source);
  if (!layout.isLittle) return undefined;
  const { images } = await readTiffStructure(source);
  const [main] = images;
  const directory = await readDirectory(source, layout, first);
  const sampleType = await readType(directory, main.samples_per_pixel);
  const nodata = await readNodata(source, directory);
  const { samples_per_pixel: samples, bits_per_sample: bits, compression, predictor } = main;
  const pixelBytes = samples * (bits / 8);
  const isPlain =
    sampleType !== undefined &&
    nodata !== undefined &&
    (samples === 1 || !main.is_planar) &&
    (compression === codes.none || isDeflate(compression)) &&
    predictor <= (sampleType.startsWith("float") ? 3 : 2) &&
    main.photometric <= plainColours &&
    (await directory.number(tags.fillOrder, 1)) === 1 &&
    main.block_width * main.block_height * pixelBytes <= largestServedBlock &&
    hasEveryBlock(main, pixelBytes, source.size);
  if (!isPlain) return undefined;
  return {
    file,
    width: main.width,
    height: main.height,
    blockWidth: main.block_width,
    blockHeight: main.block_height,
    isTiled: main.is_tiled,
    isDeflated: isDeflate(compression),
    predictor: compression === codes.none ? 1 : predictor,
    samples,
    sampleType,
    sampleBytes: bits / 8,
    nodata,
    offsets: main.block_offsets,
    bytes: main.block_bytes,
  };
}

function isDeflate(compression: number): boolean {
  return compression === codes.deflate || compression === codes.oldDeflate;
}

/** Undefined where the samples of a pixel differ. */
async function readType(directory: Directory, samples: number): Promise<SampleType | undefined> {
  if (samples > mostSamples) return undefined;
  const bits = await directory.numbers(tags.bits, samples);
  const formats = await directory.numbers(tags.format, samples);
  const isUniform =
    bits.every((each) => each === bits[0]) && formats.every((f) => f === formats[0]);
  return isUniform ? types.get(`${bits[0] ?? 1} ${formats[0] ?? 1}`) : undefined;
}

/** Undefined: it is no number. */
async function readNodata(source: ByteSource, directory: Directory): Promise<number | undefined> {
  const [field] = directory.fields(tags.nodata);
  if (field === undefined) return Number.NaN;
  if (field.bytes > longestNodata) return undefined;
  const bytes = Buffer.from(await source.read(field.at, field.bytes));
  const text = bytes.toString("latin1").replace(/\0.*$/s, "").trim();
  if (/^-?nan$/i.test(text)) return Number.NaN;
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

/**
 * A block that was never written, that is cut off, or that is larger than its pixels could be, is GDAL's
 * to judge.
 */
function hasEveryBlock(image: TiffImage, pixelBytes: number, size: number): boolean {
  const { block_offsets: offsets, block_bytes: bytes, samples_per_pixel: samples } = image;
  const { across, down } = blocksOf(image);
  const expected = across * down;
  const most = 2 * image.block_width * image.block_height * pixelBytes + 65_536;
  if (expected * samples > mostBlocks) return false;
  if (offsets.length !== expected || bytes.length !== expected) return false;
  for (let index = 0; index < expected; index++) {
    const [offset, length] = [offsets[index] ?? 0, bytes[index] ?? 0];
    if (offset === 0 || length === 0 || length > most || offset + length > size) return false;
  }
  return true;
}
