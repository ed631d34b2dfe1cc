import type { TiffImage, TiffStructure } from "../../core/raster/tiff-structure.ts";
import type { ByteSource } from "./byte-source.ts";
import { TiffError, buffered } from "./byte-source.ts";
import { readDirectory } from "./read-directory.ts";
import type { Directory, TiffLayout } from "./read-directory.ts";

const tags = {
  subfileType: 254,
  width: 256,
  height: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  stripOffsets: 273,
  samplesPerPixel: 277,
  rowsPerStrip: 278,
  stripBytes: 279,
  planarConfiguration: 284,
  predictor: 317,
  colorMap: 320,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileBytes: 325,
  sampleFormat: 339,
} as const;

/** A raster has a dozen; a longer chain is an attack. */
const mostDirectories = 1024;
/** 16 million blocks of 512 pixels are a raster of two million pixels square. */
const mostBlocks = 16 * 1024 * 1024;

/**
 * Reads everything but the pixels. The numbers in the file are not trusted: memory is allocated only
 * after the file has proved long enough to hold what a number claims.
 */
export async function readTiffStructure(given: ByteSource): Promise<TiffStructure> {
  const source = buffered(given);
  const { layout, first } = await readHeader(source);
  const images: TiffImage[] = [];
  const visited = new Set<number>();
  // A chain that leads back into itself ends there, as in other readers.
  for (let at = first; at !== 0 && !visited.has(at);) {
    if (visited.size >= mostDirectories) {
      throw new TiffError("TIFF_TOO_LARGE", `It has more than ${mostDirectories} directories.`);
    }
    visited.add(at);
    // Only the first must be whole: the directories after a damaged one cannot be found.
    const directory = await readDirectory(source, layout, at).catch((error: unknown) => {
      if (images.length === 0 || !(error instanceof TiffError)) throw error;
      return undefined;
    });
    if (directory === undefined) break;
    images.push(await toImage(directory));
    at = directory.next;
  }
  const [main, ...others] = images;
  if (main === undefined) throw new TiffError("TIFF_DAMAGED", "It has no directory.");
  return {
    file_bytes: source.size,
    is_big: layout.isBig,
    ghost: await readGhost(source, layout),
    images: [main, ...others],
  };
}

export async function readHeader(
  source: ByteSource,
): Promise<{ layout: TiffLayout; first: number }> {
  const bytes = await source.read(0, 16);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const order = bytes.byteLength < 8 ? "" : String.fromCharCode(bytes[0] ?? 0, bytes[1] ?? 0);
  const isLittle = order === "II";
  const version = order === "II" || order === "MM" ? view.getUint16(2, isLittle) : 0;
  if (version === 42) {
    return { layout: { isLittle, isBig: false }, first: view.getUint32(4, isLittle) };
  }
  const isBig = version === 43 && bytes.byteLength >= 16 && view.getUint16(4, isLittle) === 8;
  if (!isBig) throw new TiffError("NOT_A_TIFF", "It does not begin as a TIFF does.");
  return { layout: { isLittle, isBig }, first: Number(view.getBigUint64(8, isLittle)) };
}

const ghostHead = /^GDAL_STRUCTURAL_METADATA_SIZE=(\d{6}) bytes\n$/;
const ghostHeadBytes = 43;

async function readGhost(source: ByteSource, { isBig }: TiffLayout): Promise<string | null> {
  const start = isBig ? 16 : 8;
  const latin = new TextDecoder("latin1");
  const head = ghostHead.exec(latin.decode(await source.read(start, ghostHeadBytes)));
  if (head === null) return null;
  return latin.decode(await source.read(start + ghostHeadBytes, Number(head[1])));
}

async function toImage(directory: Directory): Promise<TiffImage> {
  const one = (tag: number, fallback: number) => directory.number(tag, fallback);
  const [width, height] = [await one(tags.width, 0), await one(tags.height, 0)];
  const tileWidth = await one(tags.tileWidth, 0);
  const tileHeight = await one(tags.tileHeight, 0);
  const isTiled = tileWidth > 0 && tileHeight > 0;
  if (width < 1 || height < 1) throw new TiffError("TIFF_DAMAGED", "An image has no size.");
  const blockWidth = isTiled ? tileWidth : width;
  const blockHeight = isTiled
    ? tileHeight
    : Math.max(1, Math.min(height, await one(tags.rowsPerStrip, height)));
  const expected = Math.ceil(width / blockWidth) * Math.ceil(height / blockHeight);
  if (expected > mostBlocks) {
    throw new TiffError(
      "TIFF_TOO_LARGE",
      `It claims ${width} × ${height} pixels in ${expected} blocks; ${mostBlocks} are the most.`,
    );
  }
  return {
    ifd_offset: directory.offset,
    subfile_type: await one(tags.subfileType, 0),
    width,
    height,
    is_tiled: isTiled,
    block_width: blockWidth,
    block_height: blockHeight,
    bits_per_sample: await one(tags.bitsPerSample, 1),
    samples_per_pixel: await one(tags.samplesPerPixel, 1),
    sample_format: await one(tags.sampleFormat, 1),
    compression: await one(tags.compression, 1),
    predictor: await one(tags.predictor, 1),
    photometric: await one(tags.photometric, 0),
    has_color_map: directory.fields(tags.colorMap).length > 0,
    is_planar: (await one(tags.planarConfiguration, 1)) === 2,
    block_offsets: await directory.numbers(
      isTiled ? tags.tileOffsets : tags.stripOffsets,
      expected,
    ),
    block_bytes: await directory.numbers(isTiled ? tags.tileBytes : tags.stripBytes, expected),
  };
}
