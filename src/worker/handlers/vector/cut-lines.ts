/** Cuts a file of JSON lines into files that GDAL can convert at once. */
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";

/** Shorter files are converted before a second process would be ready. */
const shortestFile = 4 * 1024 * 1024;
const recordSeparator = 0x1e;
const newline = 0x0a;

/** Copies the lines of a file to several files of about the same length. None: it stays whole. */
export async function cutLines(
  file: string,
  count: number,
  signal: AbortSignal,
): Promise<string[]> {
  const places = await findCuts(file, count);
  const ending = path.extname(file);
  const stem = file.slice(0, -ending.length);
  return Promise.all(
    places.slice(1).map(async (end, index) => {
      const part = `${stem}${index}${ending}`;
      const range = { start: places[index] ?? 0, end: end - 1 };
      await pipeline(createReadStream(file, range), createWriteStream(part), { signal });
      return part;
    }),
  );
}

/** Places of line ends, the beginning and the end of the file. */
async function findCuts(file: string, count: number): Promise<number[]> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const block = Buffer.alloc(1024 * 1024);
    const { bytesRead } = await handle.read(block, 0, 3, 0);
    // Documents that a record separator begins may have several lines.
    if (size < shortestFile || block.subarray(0, bytesRead).includes(recordSeparator)) {
      return [];
    }
    const places = [0];
    for (let part = 1; part < count; part++) {
      const from = Math.floor((size * part) / count);
      const read = await handle.read(block, 0, block.length, from);
      const end = block.subarray(0, read.bytesRead).indexOf(newline);
      const place = from + end + 1;
      if (end >= 0 && place > (places.at(-1) ?? 0) && place < size) places.push(place);
    }
    return [...places, size];
  } finally {
    await handle.close();
  }
}
