/**
 * Finds the columns of FlatGeobuf files and dBASE tables whose values GDAL would round, and the bytes
 * of the header that make it read them in another type: see `raw-values.ts`.
 */
import type { RawKind } from "./raw-values.ts";

export interface RawHeader {
  readonly kinds: ReadonlyMap<string, RawKind>;
  /** The bytes to write, by their place in the file. */
  readonly patches: readonly { readonly at: number; readonly byte: number }[];
}

/** By FlatGeobuf's number of a type: unsigned integers of 64 bits and real numbers. */
const flatgeobufTypes: ReadonlyMap<number, readonly [kind: RawKind, as: number]> = new Map([
  [8, ["unsigned", 7]],
  [9, ["float", 5]],
  [10, ["double", 7]],
]);
const fieldOf = { columns: 7, name: 0, type: 1 } as const;
const headerAt = 12;

/** Reads the header of a FlatGeobuf file; the places in it are not trusted. */
export function findFlatgeobufColumns(start: Uint8Array): RawHeader {
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const decoder = new TextDecoder();
  const kinds = new Map<string, RawKind>();
  const patches: RawHeader["patches"][number][] = [];
  try {
    const follow = (at: number) => at + view.getUint32(at, true);
    const field = (table: number, index: number) => {
      const vtable = table - view.getInt32(table, true);
      const offset = 4 + 2 * index;
      if (offset >= view.getUint16(vtable, true)) return undefined;
      const place = view.getUint16(vtable + offset, true);
      return place === 0 ? undefined : table + place;
    };
    const columns = field(follow(headerAt), fieldOf.columns);
    if (columns === undefined) return { kinds, patches };
    const list = follow(columns);
    const count = view.getUint32(list, true);
    for (let index = 0; index < count; index++) {
      const column = follow(list + 4 + 4 * index);
      const [name, type] = [field(column, fieldOf.name), field(column, fieldOf.type)];
      if (name === undefined || type === undefined) continue;
      const raw = flatgeobufTypes.get(view.getUint8(type));
      if (raw === undefined) continue;
      const text = follow(name);
      const bytes = start.subarray(text + 4, text + 4 + view.getUint32(text, true));
      kinds.set(decoder.decode(bytes), raw[0]);
      patches.push({ at: type, byte: raw[1] });
    }
  } catch (error) {
    // A place outside of the header: GDAL refuses the file.
    if (!(error instanceof RangeError)) throw error;
    return { kinds: new Map(), patches: [] };
  }
  return { kinds, patches };
}

/** How many bytes of a FlatGeobuf file its header ends at. */
export function flatgeobufHeaderBytes(start: Uint8Array): number {
  return headerAt + new DataView(start.buffer, start.byteOffset).getUint32(8, true);
}

/** Numbers of the schemas of KML; GDAL makes 2147483647 of larger ones. */
const kmlField = /<(?:\w+:)?SimpleField\b([^>]*)>/g;
const kmlNumber = /^(?:u?int|u?short|float|double)$/i;

/** Reads the fields that a KML document declares. GDAL takes those of an unknown type for texts. */
export function findKmlColumns(start: Uint8Array): RawHeader {
  const kinds = new Map<string, RawKind>();
  const patches: RawHeader["patches"][number][] = [];
  // Each byte is a character, so that places in the text are those in the file.
  const text = new TextDecoder("latin1").decode(start);
  for (const field of text.matchAll(kmlField)) {
    const attributes = field[1] ?? "";
    const name = /\bname\s*=\s*["']([^"'&]*)["']/.exec(attributes)?.[1];
    const type = /\btype\s*=\s*["']([^"']*)["']/d.exec(attributes);
    const [from, to] = type?.indices?.[1] ?? [0, 0];
    if (name === undefined || !kmlNumber.test(attributes.slice(from, to))) continue;
    const own = Uint8Array.from(name, (letter) => letter.charCodeAt(0));
    kinds.set(new TextDecoder().decode(own), "digits");
    const begin = field.index + field[0].indexOf(attributes) + from;
    for (let at = begin; at < begin + to - from; at++) patches.push({ at, byte: 0x78 });
  }
  return { kinds, patches };
}

const letters = { N: 0x4e, F: 0x46, C: 0x43 } as const;

/** Reads the header of a dBASE table. */
export function findDbaseColumns(start: Uint8Array): RawHeader {
  const kinds = new Map<string, RawKind>();
  const patches: RawHeader["patches"][number][] = [];
  for (let at = 32; at + 32 <= start.length && start[at] !== 0x0d; at += 32) {
    const [type, width = 0, decimals = 0] = [start[at + 11], start[at + 16], start[at + 17]];
    if (type !== letters.N && type !== letters.F) continue;
    // GDAL reads shorter ones as integers of 64 bits, or without a loss as real numbers.
    if (width < (decimals === 0 ? 19 : 17)) continue;
    const name = [...start.subarray(at, at + 11)];
    const end = name.indexOf(0);
    const own = end < 0 ? name : name.slice(0, end);
    // Other names depend on the encoding of the table.
    if (own.some((byte) => byte >= 0x80)) continue;
    kinds.set(String.fromCharCode(...own).trim(), "digits");
    patches.push({ at: at + 11, byte: letters.C });
  }
  return { kinds, patches };
}
