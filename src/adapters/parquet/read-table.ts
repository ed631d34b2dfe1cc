import { parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import type { ByteStore } from "../tiles/byte-source.ts";

/** The rows of a Parquet file in storage, with the columns that are asked for. */
export async function readTable(
  storage: ByteStore,
  path: string,
  bytes: number,
  columns?: readonly string[],
): Promise<Record<string, unknown>[]> {
  const file = storedFile(storage, path, bytes);
  const metadata = await parquetMetadataAsync(file);
  const wanted = columns === undefined ? {} : { columns: [...columns] };
  return parquetReadObjects({ file, metadata, compressors, ...wanted });
}

/** A file in storage, as the library reads it: in parts. */
function storedFile(storage: ByteStore, path: string, bytes: number) {
  return {
    byteLength: bytes,
    slice: async (start: number, end = bytes) => {
      const from = start < 0 ? bytes + start : start;
      return new Uint8Array(await storage.readRange(path, from, end - from)).buffer;
    },
  };
}
