import { crc32, deflateRawSync } from "node:zlib";

export interface Packed {
  readonly name: string;
  readonly content?: Buffer;
  /** The size that the directory claims, if not the true one. */
  readonly claims?: number;
  readonly mode?: number;
  readonly flags?: number;
  /** The local header of another entry: its bytes are shared. */
  readonly sharesWith?: number;
}

/** Writes an archive as an attacker would: sizes, names and headers need not agree. */
export function packZip(...files: Packed[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let at = 0;
  for (const { name, content = Buffer.from("x"), claims, mode, flags = 0, sharesWith } of files) {
    const packed = deflateRawSync(content);
    const bytes = Buffer.from(name);
    const sizes = [crc32(content), packed.length, claims ?? content.length];
    const offset = sharesWith === undefined ? at : (offsets[sharesWith] ?? 0);
    offsets.push(offset);
    if (sharesWith === undefined) {
      const local = Buffer.alloc(30);
      local.writeUInt32LE(0x04034b50, 0);
      local.writeUInt16LE(20, 4);
      local.writeUInt16LE(flags, 6);
      local.writeUInt16LE(8, 8);
      sizes.forEach((size, index) => local.writeUInt32LE(size, 14 + 4 * index));
      local.writeUInt16LE(bytes.length, 26);
      bodies.push(local, bytes, packed);
      at += 30 + bytes.length + packed.length;
    }
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(0x031e, 4);
    central.writeUInt16LE(20, 6);
    central.writeUInt16LE(flags, 8);
    central.writeUInt16LE(8, 10);
    sizes.forEach((size, index) => central.writeUInt32LE(size, 16 + 4 * index));
    central.writeUInt16LE(bytes.length, 28);
    central.writeUInt32LE((mode ?? 0o100644) * 0x10000, 38);
    central.writeUInt32LE(offset, 42);
    directory.push(central, bytes);
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, list, end]);
}
