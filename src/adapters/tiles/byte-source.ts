/**
 * A file of storage for the TIFF reader. The reader takes headers and tables in many small steps, so
 * those are answered from cached pages; blocks are not cached here, because `read-window.ts` caches
 * them decoded.
 */
import type { Source } from "@cogeotiff/core";
import { LRUCache } from "lru-cache";
import { cached } from "../runtime/cached.ts";

const pageBytes = 64 * 1024;
const mostPages = 256;

/** The part of storage that is read here. */
export interface ByteStore {
  head(path: string): Promise<{ readonly bytes: number } | undefined>;
  readRange(path: string, offset: number, length: number): Promise<Uint8Array>;
  /** The file that a thread may read by itself; undefined where storage is not a folder. */
  localPath?(path: string): Promise<string | undefined>;
}

export type ReadBytes = (
  key: string,
  path: string,
  size: number,
) => Source & { readonly size: number };

export function createByteSources(storage: Pick<ByteStore, "readRange">): ReadBytes {
  const pages = new LRUCache<string, Promise<ArrayBuffer>>({ max: mostPages });

  return (key, path, size) => {
    const read = async (offset: number, length: number): Promise<ArrayBuffer> => {
      const bytes = await storage.readRange(path, offset, length);
      return exactBuffer(bytes);
    };
    const readPage = (index: number): Promise<ArrayBuffer> => {
      const offset = index * pageBytes;
      return cached(pages, `${key}#${index}`, () =>
        read(offset, Math.min(pageBytes, size - offset)),
      );
    };
    return {
      url: new URL(`storage:///${encodeURI(path)}`),
      metadata: { size },
      size,
      async fetch(offset, length = size - offset, options) {
        options?.signal?.throwIfAborted();
        // Of a range beyond the end of the file only the part inside is read; the reader notices.
        const end = Math.min(size, offset + length);
        if (offset < 0 || offset >= end) return new ArrayBuffer(0);
        const first = Math.floor(offset / pageBytes);
        const isSmall = end - offset <= pageBytes / 2;
        if (!isSmall || Math.floor((end - 1) / pageBytes) !== first) {
          return read(offset, end - offset);
        }
        const page = await readPage(first);
        return page.slice(offset - first * pageBytes, end - first * pageBytes);
      },
    };
  };
}

/** Copies bytes that are a part of a larger buffer; `slice` of a Buffer would share the memory. */
function exactBuffer(bytes: Uint8Array): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = bytes;
  const isWhole = byteOffset === 0 && byteLength === buffer.byteLength;
  return isWhole && buffer instanceof ArrayBuffer ? buffer : new Uint8Array(bytes).buffer;
}
