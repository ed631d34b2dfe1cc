import { createReadStream } from "node:fs";

const newline = 10;

/** The lines of a file, a block at a time and without their ends: one await for many lines. */
export async function* readLines(file: string, signal: AbortSignal): AsyncGenerator<Buffer[]> {
  const blocks = createReadStream(file, { highWaterMark: 1024 * 1024, signal });
  let begun: Buffer[] = [];
  for await (const chunk of blocks) {
    const block = chunk as Buffer;
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = block.indexOf(newline); end >= 0; end = block.indexOf(newline, start)) {
      const piece = block.subarray(start, end);
      lines.push(begun.length === 0 ? piece : Buffer.concat([...begun, piece]));
      begun = [];
      start = end + 1;
    }
    if (start < block.length) begun.push(block.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (begun.length > 0) yield [Buffer.concat(begun)];
}
