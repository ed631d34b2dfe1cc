/** Changes the header of a file's copy so that GDAL rounds no number of it. */
import { constants } from "node:fs";
import { copyFile, open, rename, stat } from "node:fs/promises";
import {
  findDbaseColumns,
  findFlatgeobufColumns,
  findKmlColumns,
  flatgeobufHeaderBytes,
} from "../../../core/vector/raw-columns.ts";
import type { RawHeader } from "../../../core/vector/raw-columns.ts";
import { endingOf, isFlatgeobuf, isKml, isShapefile } from "../../../core/vector/source-format.ts";
import type { SourceFile } from "./fetch-source.ts";
import { originalOf } from "./prepare-text.ts";

/** A header of more bytes is left as it is. */
const longestHeader = 16 * 1024 * 1024;
const longestTable = 65_536;

export async function keepDigits(source: SourceFile): Promise<SourceFile> {
  const { file, format } = source;
  const isTable = isShapefile(format) || endingOf(file) === ".dbf";
  const kind = isTable ? "dbase" : isFlatgeobuf(format) ? "flatgeobuf" : isKml(format) && "kml";
  if (kind === false) return source;
  const changed = isTable ? `${file.slice(0, -endingOf(file).length)}.dbf` : file;
  if ((await stat(changed).catch(() => undefined)) === undefined) return source;
  const { kinds, patches } = await readHeader(changed, kind);
  if (patches.length === 0) return source;
  const copy = `${changed}.new`;
  await copyFile(changed, copy, constants.COPYFILE_FICLONE);
  const handle = await open(copy, "r+");
  try {
    for (const { at, byte } of patches) await handle.write(Uint8Array.of(byte), 0, 1, at);
  } finally {
    await handle.close();
  }
  const original = originalOf(changed);
  await rename(changed, original);
  await rename(copy, changed);
  const received = source.received.map((each) => (each === changed ? original : each));
  return { ...source, received, rawColumns: kinds };
}

async function readHeader(file: string, kind: "dbase" | "flatgeobuf" | "kml"): Promise<RawHeader> {
  const handle = await open(file);
  try {
    const read = async (bytes: number) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
      return buffer.subarray(0, bytesRead);
    };
    if (kind === "dbase") return findDbaseColumns(await read(longestTable));
    if (kind === "kml") return findKmlColumns(await read(longestHeader));
    const start = await read(12);
    const bytes = start.length < 12 ? 0 : flatgeobufHeaderBytes(start);
    return findFlatgeobufColumns(await read(Math.min(bytes, longestHeader)));
  } finally {
    await handle.close();
  }
}
