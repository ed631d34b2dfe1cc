/** Refuses a Parquet file by what its footer and the headers of its pages claim. */
import type { Compressors, FileMetaData } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { shown } from "../../core/files/problem.ts";
import { ParquetError } from "./parquet-error.ts";

/** Decoded in memory at once, as the file's own index claims it. */
const largestGroup = 1024 ** 3;
/** More are never written in one group, and cost no bytes if they are empty. */
const usualMostRows = 2 ** 25;

export function checkFooter(
  { row_groups }: FileMetaData,
  fileBytes: number,
  mostRows = usualMostRows,
): void {
  for (const { columns, num_rows, total_byte_size } of row_groups) {
    let bytes = 0n;
    for (const { file_path, meta_data } of columns) {
      refuseReference(file_path);
      if (meta_data === undefined) throw damaged("a column without a description");
      const { total_compressed_size: packed, total_uncompressed_size: unpacked } = meta_data;
      const from = meta_data.dictionary_page_offset ?? meta_data.data_page_offset;
      if ([from, packed, unpacked, meta_data.num_values].some((each) => each < 0n)) {
        throw damaged("a negative size");
      }
      if (from + packed > BigInt(fileBytes)) throw damaged("a column beyond its end");
      bytes += unpacked;
    }
    if (num_rows < 0n || total_byte_size < 0n) throw damaged("a negative size");
    if (num_rows <= mostRows && total_byte_size <= largestGroup && bytes <= largestGroup) continue;
    throw tooLarge(`more than 1 GiB or ${mostRows} rows`);
  }
}

/** Unpack pages, but none that is larger than a whole group may be, whatever the footer says. */
export const boundedCompressors: Compressors = Object.fromEntries(
  Object.entries(compressors).map(([codec, unpack]) => [
    codec,
    (packed: Uint8Array, bytes: number) => {
      if (bytes > largestGroup) throw tooLarge("a page of more than 1 GiB");
      return unpack(packed, bytes);
    },
  ]),
);

/** The index of a folder of files (`_metadata`) names a file for every column. */
function refuseReference(file: string | undefined): void {
  if (file === undefined || file === "") return;
  throw new ParquetError("EXTERNAL_REFERENCE", `Its rows are in another file, "${shown(file)}".`);
}

function tooLarge(what: string): ParquetError {
  return new ParquetError(
    "FORMAT_NOT_SUPPORTED",
    `A row group of the Parquet file holds ${what}: write the file again with smaller row groups.`,
  );
}

function damaged(what: string): ParquetError {
  return new ParquetError("FILE_UNREADABLE", `The Parquet file is damaged: it claims ${what}.`);
}
