import type { ByteSource } from "./byte-source.ts";
import { TiffError } from "./byte-source.ts";

export interface TiffLayout {
  readonly isLittle: boolean;
  readonly isBig: boolean;
}

export interface Directory {
  readonly offset: number;
  /** The offset of the next directory; 0 at the end. */
  readonly next: number;
  /** The field's first value. */
  number(tag: number, fallback: number): Promise<number>;
  /** At most `most` values of the field; none where the field is missing. */
  numbers(tag: number, most: number): Promise<Float64Array>;
  /** The place of the bytes of every field with this tag; a damaged file has it several times. */
  fields(tag: number): readonly FieldPlace[];
  /** The places of the bytes of all fields. */
  readonly places: readonly FieldPlace[];
}

interface FieldPlace {
  /** The number of the type of its values. */
  readonly type: number;
  readonly at: number;
  readonly bytes: number;
}

interface Field {
  readonly type: number;
  readonly count: number;
  /** The offset of its values, which is in the entry itself if they fit. */
  readonly at: number;
}

/** The limit of libtiff. A damaged count is usually far beyond it. */
const mostFields = 4096;
const chunkValues = 64 * 1024;

/** Bytes of one value, by the type of its field, from 1 to 18. */
const anyTypeBytes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];

/** The same for the types of whole numbers, the only ones that are read as numbers. */
const typeBytes: ReadonlyMap<number, 1 | 2 | 4 | 8> = new Map([
  [1, 1],
  [3, 2],
  [4, 4],
  [13, 4],
  [16, 8],
  [18, 8],
]);

export async function readDirectory(
  source: ByteSource,
  layout: TiffLayout,
  offset: number,
): Promise<Directory> {
  const { isLittle, isBig } = layout;
  const countBytes = isBig ? 8 : 2;
  const fieldBytes = isBig ? 20 : 12;
  const count = readNumber(await read(source, offset, countBytes), 0, countBytes, isLittle);
  if (count === 0 || count > mostFields) {
    throw new TiffError("TIFF_DAMAGED", `The directory at byte ${offset} has ${count} fields.`);
  }
  const start = offset + countBytes;
  const view = await read(source, start, count * fieldBytes);
  const fields = new Map<number, Field>();
  const places: (FieldPlace & { readonly tag: number })[] = [];
  for (let index = 0; index < count; index++) {
    const at = index * fieldBytes;
    const tag = view.getUint16(at, isLittle);
    const type = view.getUint16(at + 2, isLittle);
    const values = readNumber(view, at + 4, isBig ? 8 : 4, isLittle);
    const inline = at + (isBig ? 12 : 8);
    const bytes = values * (anyTypeBytes[type] ?? 0);
    const isInline = bytes <= (isBig ? 8 : 4);
    const where = isInline ? start + inline : readNumber(view, inline, isBig ? 8 : 4, isLittle);
    places.push({ tag, type, at: where, bytes });
    if (!fields.has(tag)) fields.set(tag, { type, count: values, at: where });
  }
  const tail = start + count * fieldBytes;
  const nextBytes = isBig ? 8 : 4;
  // Some files end right after the last directory, without the pointer to the next one.
  const hasNext = tail + nextBytes <= source.size;
  const next = hasNext
    ? readNumber(await read(source, tail, nextBytes), 0, nextBytes, isLittle)
    : 0;

  async function numbers(tag: number, most: number): Promise<Float64Array> {
    const field = fields.get(tag);
    const width = typeBytes.get(field?.type ?? 0);
    if (field === undefined || width === undefined) return new Float64Array();
    const wanted = Math.min(field.count, most);
    if (field.at + wanted * width > source.size) {
      throw new TiffError(
        "TIFF_DAMAGED",
        `The field ${tag} claims ${wanted} values at byte ${field.at}; the file has ${source.size} bytes.`,
      );
    }
    const values = new Float64Array(wanted);
    for (let done = 0; done < wanted; done += chunkValues) {
      const length = Math.min(chunkValues, wanted - done);
      const part = await read(source, field.at + done * width, length * width);
      for (let index = 0; index < length; index++) {
        values[done + index] = readNumber(part, index * width, width, isLittle);
      }
    }
    return values;
  }

  return {
    offset,
    next,
    numbers,
    places,
    fields: (tag) => places.filter((place) => place.tag === tag),
    number: async (tag, fallback) => (await numbers(tag, 1))[0] ?? fallback,
  };
}

async function read(source: ByteSource, offset: number, length: number): Promise<DataView> {
  if (!Number.isSafeInteger(offset) || offset + length > source.size) {
    throw new TiffError(
      "TIFF_DAMAGED",
      `It ends at byte ${source.size}, and ${length} bytes at ${offset} should follow: it is cut off.`,
    );
  }
  const bytes = await source.read(offset, length);
  if (bytes.byteLength < length) throw new TiffError("TIFF_DAMAGED", "It is shorter than it was.");
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readNumber(view: DataView, at: number, bytes: number, isLittle: boolean): number {
  switch (bytes) {
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, isLittle);
    case 4:
      return view.getUint32(at, isLittle);
    default:
      return Number(view.getBigUint64(at, isLittle));
  }
}
