import { open } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import { KnownError } from "../runtime/known-error.ts";
import type { Storage } from "../storage/storage.ts";
import { NotInStorage } from "../storage/storage.ts";

/** A file or object whose bytes can be read by offset. */
export interface ByteSource {
  readonly size: number;
  /** Gives fewer bytes only at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

export class TiffError extends KnownError {
  constructor(code: TiffProblem, message: string) {
    super(code, "permanent", message);
  }
}

export type TiffProblem = "NOT_A_TIFF" | "TIFF_DAMAGED" | "TIFF_TOO_LARGE";

export async function withFile<T>(
  file: string,
  use: (source: ByteSource) => Promise<T>,
): Promise<T> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    return await use({
      size,
      read: async (offset, length) => {
        const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - offset)));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
        return buffer.subarray(0, bytesRead);
      },
    });
  } finally {
    await handle.close();
  }
}

export async function storageSource(storage: Storage, path: string): Promise<ByteSource> {
  const object = await storage.head(path);
  if (object === undefined) throw new NotInStorage(path);
  return {
    size: object.bytes,
    read: (offset, length) => storage.readRange(path, offset, length),
  };
}

const windowBytes = 64 * 1024;
const mostWindows = 32;

/** Reads windows of 64 KiB and answers from them: directories are many small reads close together. */
export function buffered(source: ByteSource): ByteSource {
  const windows = new LRUCache<number, Uint8Array>({ max: mostWindows });

  async function windowAt(index: number): Promise<Uint8Array> {
    const known = windows.get(index);
    if (known !== undefined) return known;
    const start = index * windowBytes;
    const bytes = await source.read(start, Math.min(windowBytes, source.size - start));
    windows.set(index, bytes);
    return bytes;
  }

  return {
    size: source.size,
    read: async (offset, length) => {
      const end = Math.min(offset + length, source.size);
      if (offset >= end) return new Uint8Array();
      const first = Math.floor(offset / windowBytes);
      if (end - offset > windowBytes) return source.read(offset, end - offset);
      const bytes = await windowAt(first);
      const from = offset - first * windowBytes;
      if (end <= (first + 1) * windowBytes) return bytes.subarray(from, from + end - offset);
      const next = await windowAt(first + 1);
      return Buffer.concat([
        bytes.subarray(from),
        next.subarray(0, end - (first + 1) * windowBytes),
      ]);
    },
  };
}
