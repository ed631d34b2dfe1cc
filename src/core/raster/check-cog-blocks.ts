import type { TiffImage, TiffStructure } from "./tiff-structure.ts";
import { blocksOf, isMask, isOverview, isOverviewMask } from "./tiff-structure.ts";

export interface CogFinding {
  readonly code: string;
  readonly message: string;
}

/** The promises about its blocks that a file makes in the text after its header. */
export interface LayoutPromises {
  readonly rowMajor: boolean;
  readonly leaders: boolean;
  readonly trailers: boolean;
  readonly masksInterleaved: boolean;
  readonly isBroken: boolean;
}

export function readPromises({ ghost, images }: TiffStructure): LayoutPromises {
  // If the directory follows the header directly, there is no room for promises.
  const at = images[0].ifd_offset;
  const text = at === 8 || at === 16 ? "" : (ghost ?? "");
  return {
    rowMajor: text.includes("BLOCK_ORDER=ROW_MAJOR"),
    leaders: text.includes("BLOCK_LEADER=SIZE_AS_UINT4"),
    trailers: text.includes("BLOCK_TRAILER=LAST_4_BYTES_REPEATED"),
    masksInterleaved: text.includes("MASK_INTERLEAVED_WITH_IMAGERY=YES"),
    isBroken: text.includes("KNOWN_INCOMPATIBLE_EDITION=YES"),
  };
}

/** A damaged file may break a promise at every block; the first few findings say as much as all. */
const mostFindings = 20;

/**
 * Checks that the promises are kept: readers that trust them read a block without looking up its
 * place.
 */
export function checkBlocks(
  structure: TiffStructure,
  sidecars: { readonly mask: boolean },
): CogFinding[] {
  const promises = readPromises(structure);
  const { rowMajor, leaders, trailers, masksInterleaved } = promises;
  if (!(rowMajor || leaders || trailers || masksInterleaved)) return [];
  const found: CogFinding[] = [];
  for (const { name, image, mask } of layers(structure)) {
    checkImage(name, image, masksInterleaved ? mask : undefined, promises, found);
    if (mask !== undefined && !sidecars.mask) {
      checkImage(`the mask of ${name}`, mask, undefined, promises, found);
    }
    if (found.length >= mostFindings) break;
  }
  return found.slice(0, mostFindings);
}

interface Layer {
  readonly name: string;
  readonly image: TiffImage;
  readonly mask: TiffImage | undefined;
}

/** A mask belongs to the image of the same size; the file says nothing else about it. */
function layers({ images }: TiffStructure): Layer[] {
  const [main, ...others] = images;
  const mask = others.find(isMask);
  const masks = mask === undefined ? [] : others.filter(isOverviewMask);
  const overviews = others.filter(isOverview).map((image, index) => ({
    name: `overview ${index}`,
    image,
    mask: masks.find(({ width, height }) => width === image.width && height === image.height),
  }));
  return [{ name: "the image", image: main, mask }, ...overviews];
}

function checkImage(
  name: string,
  image: TiffImage,
  mask: TiffImage | undefined,
  promises: LayoutPromises,
  found: CogFinding[],
): void {
  const { across, down } = blocksOf(image);
  let interleaved = mask;
  if (
    mask !== undefined &&
    (mask.block_width !== image.block_width || mask.block_height !== image.block_height)
  ) {
    found.push({
      code: "MASK_BLOCK_SIZE",
      message: `The mask of ${name} has blocks of another size.`,
    });
    interleaved = undefined;
  }
  const count = Math.min(across * down, image.block_offsets.length);
  let last = 0;
  for (let index = 0; index < count && found.length < mostFindings; index++) {
    const place = `block (${index % across}, ${Math.floor(index / across)}) of ${name}`;
    const bytes = image.block_bytes[index] ?? 0;
    let offset = bytes > 0 ? (image.block_offsets[index] ?? 0) : 0;
    if (offset > 0) {
      if (promises.rowMajor && offset < last) found.push(outOfOrder(place));
      checkEdges(place, image, index, bytes, promises, found);
    }
    const maskOffset = interleaved === undefined ? 0 : offsetOf(interleaved, index);
    if (offset > 0 && maskOffset > 0) {
      const gap = (promises.leaders ? 4 : 0) + (promises.trailers ? 4 : 0);
      const expected = offset + bytes + gap;
      if (maskOffset !== expected) {
        found.push({
          code: "MASK_NOT_INTERLEAVED",
          message: `The mask of ${place} is at byte ${maskOffset}, not at byte ${expected}.`,
        });
      }
    } else if (maskOffset > 0) {
      if (promises.rowMajor && maskOffset < last) found.push(outOfOrder(`the mask of ${place}`));
      offset = maskOffset;
    }
    last = offset;
  }
}

function checkEdges(
  place: string,
  { edges }: TiffImage,
  index: number,
  bytes: number,
  promises: LayoutPromises,
  found: CogFinding[],
): void {
  if (edges === undefined) return;
  const leader = edges.leaders[index] ?? -1;
  if (promises.leaders && leader !== bytes) {
    found.push({
      code: "BLOCK_LEADER",
      message: `The size before ${place} is ${leader}, and the block has ${bytes} bytes.`,
    });
  }
  if (promises.trailers && bytes >= 4 && edges.trailers[index] !== 1) {
    found.push({ code: "BLOCK_TRAILER", message: `The bytes behind ${place} are not its last.` });
  }
}

function offsetOf(image: TiffImage, index: number): number {
  return (image.block_bytes[index] ?? 0) > 0 ? (image.block_offsets[index] ?? 0) : 0;
}

function outOfOrder(place: string): CogFinding {
  return { code: "BLOCK_ORDER", message: `${place} lies before the block that precedes it.` };
}
