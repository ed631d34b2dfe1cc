/**
 * A file of storage for the TIFF reader. Headers and tables are read in many small steps, so those
 * are answered from pages; a block is read as it is, once, and kept decoded elsewhere.
 */
import type { Source } from "@cogeotiff/core";
import { createLru } from "./lru.ts";

const pageBytes = 64 * 1024;
const mostPages = 256;

/** The part of storage that is read here. */
export interface ByteStore {
  head(path: string): Promise<{ readonly bytes: number } | undefined>;
  readRange(path: string, offset: number, length: number): Promise<Uint8Array>;
}

export type ReadBytes = (
  key: string,
  path: string,
  size: number,
) => Source & { readonly size: number };

export function createByteSources(storage: Pick<ByteStore, "readRange">): ReadBytes {
  const pages = createLru<Promise<ArrayBuffer>>(mostPages, () => 1);

  return (key, path, size) => {
    const read = async (offset: number, length: number): Promise<ArrayBuffer> => {
      const bytes = await storage.readRange(path, offset, length);
      return exactBuffer(bytes);
    };
    const readPage = (index: number): Promise<ArrayBuffer> => {
      const name = `${key}#${index}`;
      const known = pages.get(name);
      if (known !== undefined) return known;
      const offset = index * pageBytes;
      const page = read(offset, Math.min(pageBytes, size - offset));
      pages.set(name, page);
      // A failure is not kept: the next one may succeed.
      page.catch(() => {
        pages.delete(name);
      });
      return page;
    };
    return {
      url: new URL(`storage:///${encodeURI(path)}`),
      metadata: { size },
      size,
      async fetch(offset, length = size - offset, options) {
        options?.signal?.throwIfAborted();
        // A claim beyond the end of the file gets what there is, and the reader notices.
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

/** A copy where the bytes are a part of something larger; `slice` of a Buffer would not be one. */
function exactBuffer(bytes: Uint8Array): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = bytes;
  const isWhole = byteOffset === 0 && byteLength === buffer.byteLength;
  return isWhole && buffer instanceof ArrayBuffer ? buffer : new Uint8Array(bytes).buffer;
}
