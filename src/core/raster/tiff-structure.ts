/**
 * The structure of a TIFF without its pixels. A reader fills it in, and pure functions judge it.
 */
export interface TiffStructure {
  readonly file_bytes: number;
  readonly is_big: boolean;
  /** The text between the header and the first directory, in which GDAL describes the layout. */
  readonly ghost: string | null;
  /** Every directory in the order of the chain; the first is the image itself. */
  readonly images: readonly [TiffImage, ...TiffImage[]];
}

export interface TiffImage {
  readonly ifd_offset: number;
  readonly subfile_type: number;
  readonly width: number;
  readonly height: number;
  readonly is_tiled: boolean;
  /** A strip is as wide as the image. */
  readonly block_width: number;
  readonly block_height: number;
  readonly bits_per_sample: number;
  readonly samples_per_pixel: number;
  readonly sample_format: number;
  readonly compression: number;
  readonly predictor: number;
  readonly photometric: number;
  readonly has_color_map: boolean;
  readonly is_planar: boolean;
  /** The offsets of the first band's blocks, row by row; 0 for a block that was never written. */
  readonly block_offsets: ArrayLike<number>;
  readonly block_bytes: ArrayLike<number>;
  /** Present if the bytes around the blocks were read as well. */
  readonly edges?: BlockEdges;
}

export interface BlockEdges {
  /** The number before each block, which should be its size; negative if there is none. */
  readonly leaders: ArrayLike<number>;
  /** 1: the last four bytes of the block are repeated after it. */
  readonly trailers: ArrayLike<number>;
}

const reduced = 1;
const mask = 4;

export const isOverview = (image: TiffImage): boolean =>
  (image.subfile_type & (reduced | mask)) === reduced;
export const isMask = (image: TiffImage): boolean =>
  (image.subfile_type & (reduced | mask)) === mask;
export const isOverviewMask = (image: TiffImage): boolean =>
  (image.subfile_type & (reduced | mask)) === (reduced | mask);

/** The most bytes of one block that the tile server holds in memory: 4096 pixels square of floats. */
export const largestServedBlock = 64 * 1024 * 1024;

/** True if a tile of every image, overviews too, can be made from its blocks. */
export function hasServableBlocks({ images }: TiffStructure): boolean {
  return images.every(({ block_width, block_height, is_planar, ...image }) => {
    const samples = is_planar ? 1 : image.samples_per_pixel;
    const bits = block_width * block_height * samples * image.bits_per_sample;
    return bits / 8 <= largestServedBlock;
  });
}

export function blocksOf(image: TiffImage): { readonly across: number; readonly down: number } {
  return {
    across: Math.ceil(image.width / image.block_width),
    down: Math.ceil(image.height / image.block_height),
  };
}
