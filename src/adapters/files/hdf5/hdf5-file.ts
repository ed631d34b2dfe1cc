/** Reads numbers and addresses of an HDF5 file, and where its first object is. */
import type { ByteSource } from "../../cog/byte-source.ts";
import { buffered } from "../../cog/byte-source.ts";

/** The file cannot be read as HDF5, or is so large or unusual that it cannot be checked. */
export class NotChecked extends Error {}

/** More than the metadata of real files, so that a hostile one ends the check soon. */
const mostBytes = 256 * 1024 * 1024;

/** A part of the file, read from its beginning on; numbers are little-endian. */
export class Part {
  readonly bytes: Buffer;
  at = 0;
  private readonly sizes: Pick<Hdf5File, "offsetBytes" | "lengthBytes">;

  constructor(bytes: Uint8Array, sizes: Pick<Hdf5File, "offsetBytes" | "lengthBytes">) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.sizes = sizes;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  take(length: number): Buffer {
    if (length < 0 || length > this.left) throw new NotChecked("a part ends too early");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** A number of up to eight bytes. */
  number(length: number): number {
    const value = this.take(length).reduceRight((sum, byte) => sum * 256 + byte, 0);
    if (!Number.isSafeInteger(value)) throw new NotChecked("a number is too large");
    return value;
  }

  length(): number {
    return this.number(this.sizes.lengthBytes);
  }

  /** Undefined: the address of nothing, which has all of its bits set. */
  address(): number | undefined {
    const { offsetBytes } = this.sizes;
    if (this.bytes.subarray(this.at, this.at + offsetBytes).every((byte) => byte === 0xff)) {
      this.take(offsetBytes);
      return undefined;
    }
    return this.number(offsetBytes);
  }

  /** Checks the four letters that a structure begins with, and the version behind them. */
  expect(letters: string, version?: number): void {
    const isRight = this.take(4).toString("latin1") === letters;
    if (!isRight || (version !== undefined && this.number(1) !== version)) {
      throw new NotChecked(`there is no ${letters} where one should be`);
    }
  }

  /** The next bytes as a part of their own. */
  part(length: number): Part {
    return new Part(this.take(length), this.sizes);
  }
}

export interface Hdf5File {
  /** The size of an address, and of a length, in bytes. */
  readonly offsetBytes: number;
  readonly lengthBytes: number;
  read(at: number, length: number): Promise<Part>;
}

export interface Opened {
  readonly file: Hdf5File;
  /** Addresses of object headers: the first group, and the extension of the superblock. */
  readonly headers: readonly number[];
  /** The B-tree of the first group, where the superblock repeats it. */
  readonly tree: number | undefined;
}

export async function openHdf5(given: ByteSource): Promise<Opened> {
  const source = buffered(given);
  let readBytes = 0;
  const open = (offsetBytes: number, lengthBytes: number): Hdf5File => {
    const sizes = { offsetBytes, lengthBytes };
    return {
      ...sizes,
      read: async (at, length) => {
        readBytes += length;
        if (readBytes > mostBytes) throw new NotChecked("it has too much metadata");
        const bytes = await source.read(at, length);
        if (bytes.length < length) throw new NotChecked("a part lies behind the end of the file");
        return new Part(bytes, sizes);
      },
    };
  };
  const start = await open(8, 8).read(8, 8);
  const version = start.number(1);
  const isOld = version < 2;
  if (version > 3) throw new NotChecked(`the superblock has the version ${version}`);
  start.take(isOld ? 4 : 0);
  const sizes = [start.number(1), start.number(1)] as const;
  if (sizes.some((size) => ![2, 4, 8].includes(size))) throw new NotChecked("unknown sizes");
  const file = open(...sizes);
  const [offsetBytes] = sizes;
  if (!isOld) {
    const rest = await file.read(12, 4 * offsetBytes);
    requireBase(rest);
    const extension = rest.address();
    rest.address();
    return { file, headers: defined([rest.address(), extension]), tree: undefined };
  }
  const rest = await file.read(version === 0 ? 24 : 28, 6 * offsetBytes + 8 + 16);
  requireBase(rest);
  rest.address();
  rest.address();
  if (rest.address() !== undefined) throw new NotChecked("it is one of several files");
  const { header, tree } = readEntry(rest);
  return { file, headers: defined([header]), tree };
}

function requireBase(superblock: Part): void {
  if (superblock.address() !== 0) throw new NotChecked("its addresses do not begin at its start");
}

function defined(addresses: readonly (number | undefined)[]): number[] {
  return addresses.filter((address) => address !== undefined);
}

/** An entry of a symbol table; `tree` is set where it repeats the B-tree of a group. */
export function readEntry(part: Part) {
  part.address();
  const header = part.address();
  const cached = part.number(4);
  part.take(4);
  const tree = part.part(16).address();
  return { header, tree: cached === 1 ? tree : undefined };
}
