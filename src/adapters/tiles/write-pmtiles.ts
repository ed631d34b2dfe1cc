/**
 * Writes a PMTiles archive, version 3: a header, a root directory, metadata, leaf directories and the
 * tiles, which web maps read by ranges of one file. Equal tiles are stored once.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rm } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import type { Tile } from "../../core/serving/web-mercator.ts";
import { tileNumber } from "../../core/serving/tile-number.ts";
import type { Bounds } from "../../core/vector/parts.ts";

interface Entry {
  readonly number: number;
  readonly offset: number;
  readonly length: number;
  run: number;
}

export interface PmtilesLayer {
  readonly bounds: Bounds;
  readonly minZoom: number;
  readonly maxZoom: number;
  /** Such as `vector_layers`. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

const headerBytes = 127;
/** A reader fetches the header and the root directory together, in its first 16 KiB. */
const mostRootBytes = 16_384 - headerBytes;
const leafEntries = 4096;

/** The tiles must come in the order of their numbers (`tileNumber`); empty ones are left out. */
export async function writePmtiles(
  file: string,
  layer: PmtilesLayer,
  tiles: AsyncIterable<{ readonly tile: Tile; readonly bytes: Uint8Array }>,
): Promise<{ readonly tiles: number }> {
  const data = `${file}.tiles`;
  const handle = await open(data, "w");
  const entries: Entry[] = [];
  const stored = new Map<string, { offset: number; length: number }>();
  let [offset, addressed] = [0, 0];
  try {
    for await (const { tile, bytes } of tiles) {
      if (bytes.length === 0) continue;
      addressed += 1;
      const packed = gzipSync(bytes);
      const key = createHash("sha256").update(packed).digest("base64");
      let place = stored.get(key);
      if (place === undefined) {
        place = { offset, length: packed.length };
        stored.set(key, place);
        await handle.write(packed);
        offset += packed.length;
      }
      const number = tileNumber(tile);
      const last = entries.at(-1);
      const goesOn = last?.offset === place.offset && last.number + last.run === number;
      if (goesOn) last.run += 1;
      else entries.push({ number, ...place, run: 1 });
    }
  } finally {
    await handle.close();
  }
  const { root, leaves } = makeDirectories(entries);
  const metadata = gzipSync(JSON.stringify(layer.metadata));
  const header = makeHeader(layer, {
    root: root.length,
    metadata: metadata.length,
    leaves: leaves.length,
    data: offset,
    addressed,
    entries: entries.length,
    contents: stored.size,
  });
  const output = await open(file, "w");
  try {
    for (const part of [header, root, metadata, leaves]) await output.write(part);
    for await (const block of createReadStream(data)) await output.write(block as Buffer);
  } finally {
    await output.close();
    await rm(data);
  }
  return { tiles: addressed };
}

function makeDirectories(entries: readonly Entry[]): { root: Buffer; leaves: Buffer } {
  const whole = pack(entries);
  if (whole.length <= mostRootBytes) return { root: whole, leaves: Buffer.alloc(0) };
  for (let size = leafEntries; ; size *= 2) {
    const leaves: Buffer[] = [];
    const rootEntries: Entry[] = [];
    let offset = 0;
    for (let start = 0; start < entries.length; start += size) {
      const leaf = pack(entries.slice(start, start + size));
      // A run of 0 says that the entry is a leaf directory.
      rootEntries.push({
        number: entries[start]?.number ?? 0,
        offset,
        length: leaf.length,
        run: 0,
      });
      leaves.push(leaf);
      offset += leaf.length;
    }
    const root = pack(rootEntries);
    if (root.length <= mostRootBytes) return { root, leaves: Buffer.concat(leaves) };
  }
}

/** A directory in columns of variable-length integers: numbers as steps, runs, lengths, offsets. */
function pack(entries: readonly Entry[]): Buffer {
  const bytes: number[] = [];
  const write = (value: number) => {
    let rest = value;
    while (rest >= 0x80) {
      bytes.push((rest % 0x80) + 0x80);
      rest = Math.floor(rest / 0x80);
    }
    bytes.push(rest);
  };
  write(entries.length);
  for (const [index, { number }] of entries.entries()) {
    write(number - (index === 0 ? 0 : (entries[index - 1]?.number ?? 0)));
  }
  for (const { run } of entries) write(run);
  for (const { length } of entries) write(length);
  for (const [index, { offset }] of entries.entries()) {
    const before = entries[index - 1];
    const follows = before !== undefined && offset === before.offset + before.length;
    write(follows ? 0 : offset + 1);
  }
  return gzipSync(Buffer.from(bytes));
}

function makeHeader(
  { bounds, minZoom, maxZoom }: PmtilesLayer,
  sizes: Readonly<
    Record<"root" | "metadata" | "leaves" | "data" | "addressed" | "entries" | "contents", number>
  >,
): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write("PMTiles", 0, "ascii");
  header.writeUInt8(3, 7);
  const metadataAt = headerBytes + sizes.root;
  const leavesAt = metadataAt + sizes.metadata;
  const numbers = [
    headerBytes,
    sizes.root,
    metadataAt,
    sizes.metadata,
    leavesAt,
    sizes.leaves,
    leavesAt + sizes.leaves,
    sizes.data,
    sizes.addressed,
    sizes.entries,
    sizes.contents,
  ];
  for (const [index, value] of numbers.entries()) {
    header.writeBigUInt64LE(BigInt(value), 8 + 8 * index);
  }
  // Clustered; directories and tiles are compressed with gzip; the tiles are MVT.
  header.set([1, 2, 2, 1, minZoom, maxZoom], 96);
  const [west, south, east, north] = bounds;
  const places = [west, south, east, north];
  for (const [index, value] of places.entries()) {
    header.writeInt32LE(Math.round(value * 1e7), 102 + 4 * index);
  }
  header.writeUInt8(minZoom, 118);
  header.writeInt32LE(Math.round(((west + east) / 2) * 1e7), 119);
  header.writeInt32LE(Math.round(((south + north) / 2) * 1e7), 123);
  return header;
}
