/**
 * Copies everything of a remote TIFF but its pixels into a sparse file of the same size, so that GDAL,
 * which has no network, can describe it.
 */
import { open } from "node:fs/promises";
import type { TiffStructure } from "../../core/raster/tiff-structure.ts";
import type { ByteSource } from "./byte-source.ts";
import { TiffError, buffered } from "./byte-source.ts";
import { readDirectory } from "./read-directory.ts";
import { readHeader, readTiffStructure } from "./read-tiff-structure.ts";

const windowBytes = 64 * 1024;
/** The directories of a raster of a million blocks have less. */
const mostBytes = 64 * 1024 * 1024;
const mostDirectories = 1024;

export async function fetchHead(source: ByteSource, file: string): Promise<TiffStructure> {
  const handle = await open(file, "w+");
  const known = new Set<number>();
  try {
    await handle.truncate(source.size);
    const copied: ByteSource = {
      size: source.size,
      read: async (offset, length) => {
        const end = Math.min(offset + length, source.size);
        for (let at = Math.floor(offset / windowBytes); at * windowBytes < end; at++) {
          if (known.has(at)) continue;
          if ((known.size + 1) * windowBytes > mostBytes) {
            throw new TiffError("TIFF_TOO_LARGE", "Its directories have more than 64 MiB.");
          }
          const start = at * windowBytes;
          const part = await source.read(start, Math.min(windowBytes, source.size - start));
          await handle.write(part, 0, part.byteLength, start);
          known.add(at);
        }
        const buffer = Buffer.alloc(Math.max(0, end - offset));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
        return buffer.subarray(0, bytesRead);
      },
    };
    const structure = await readTiffStructure(copied);
    await copyFields(buffered(copied));
    return structure;
  } finally {
    await handle.close();
  }
}

/** Reads the values of all fields once, which copies them. */
async function copyFields(source: ByteSource): Promise<void> {
  const { layout, first } = await readHeader(source);
  const visited = new Set<number>();
  for (let at = first; at !== 0 && !visited.has(at) && visited.size < mostDirectories;) {
    visited.add(at);
    const directory = await readDirectory(source, layout, at);
    for (const place of directory.places) {
      if (place.at + place.bytes <= source.size) await source.read(place.at, place.bytes);
    }
    at = directory.next;
  }
}
