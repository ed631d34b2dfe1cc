import { parquetMetadataAsync, parquetRead, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import type { ByteStore } from "../tiles/byte-source.ts";

/** A file up to this size is read with one request. */
const smallBytes = 1_000_000;

/** The rows of a Parquet file in storage, with the columns that are asked for. */
export async function readTable(
  storage: ByteStore,
  path: string,
  bytes: number,
  columns?: readonly string[],
): Promise<Record<string, unknown>[]> {
  const file = await storedFile(storage, path, bytes);
  const metadata = await parquetMetadataAsync(file);
  const wanted = columns === undefined ? {} : { columns: [...columns] };
  return parquetReadObjects({ file, metadata, compressors, ...wanted });
}

/** The values of each of the columns, in their order: no object is made for a row. */
export async function readColumns(
  storage: ByteStore,
  path: string,
  bytes: number,
  columns: readonly string[],
): Promise<unknown[][]> {
  const file = await storedFile(storage, path, bytes);
  const metadata = await parquetMetadataAsync(file);
  const rows = Number(metadata.num_rows);
  const values = new Map(columns.map((name) => [name, new Array<unknown>(rows)]));
  await parquetRead({
    file,
    metadata,
    compressors,
    columns: [...columns],
    onChunk({ columnName, columnData, rowStart }) {
      const column = values.get(columnName);
      for (let index = 0; column !== undefined && index < columnData.length; index++) {
        column[rowStart + index] = columnData[index] ?? undefined;
      }
    },
  });
  return [...values.values()];
}

/** A file in storage, as the library reads it: in parts, a small one at once. */
async function storedFile(storage: ByteStore, path: string, bytes: number) {
  const read = async (start: number, end: number) =>
    new Uint8Array(await storage.readRange(path, start, end - start)).buffer;
  const small = bytes <= smallBytes ? await read(0, bytes) : undefined;
  return {
    byteLength: bytes,
    slice: (start: number, end = bytes) => {
      const from = start < 0 ? bytes + start : start;
      return small === undefined ? read(from, end) : small.slice(from, end);
    },
  };
}
