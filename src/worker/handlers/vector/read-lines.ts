/** Reads the lines of a file, also of one that a program is still writing. */
import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

export interface GrowingFile {
  readonly path: string;
  /** Settles when the program that writes the file has ended. Undefined: the file is complete. */
  readonly written?: Promise<unknown> | undefined;
}

const newline = 10;
const backslash = 0x5c;
const blockBytes = 1024 * 1024;
/** How long to wait for more of a file: no event tells that it has grown. */
const pauseMs = 4;

/**
 * Yields the lines in batches, without line ends: one await for many lines. With `hasEscapes` a line
 * break after a backslash is part of the line.
 */
export async function* readLines(
  file: GrowingFile,
  signal: AbortSignal,
  { hasEscapes = false }: { readonly hasEscapes?: boolean } = {},
): AsyncGenerator<Buffer[]> {
  let begun: Buffer[] = [];
  for await (const block of readBlocks(file, signal)) {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = block.indexOf(newline); end >= 0; end = block.indexOf(newline, end + 1)) {
      const piece = block.subarray(start, end);
      const isEscaped = hasEscapes && endsInEscape(begun, piece);
      if (isEscaped) continue;
      lines.push(begun.length === 0 ? piece : Buffer.concat([...begun, piece]));
      begun = [];
      start = end + 1;
    }
    if (start < block.length) begun.push(block.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (begun.length > 0) yield [Buffer.concat(begun)];
}

/** Whether an odd number of backslashes stands at the end: an even number are pairs. */
function endsInEscape(begun: readonly Buffer[], piece: Buffer): boolean {
  let count = 0;
  for (const bytes of [piece, ...begun.toReversed()]) {
    let at = bytes.length - 1;
    while (at >= 0 && bytes[at] === backslash) at -= 1;
    count += bytes.length - 1 - at;
    if (at >= 0) break;
  }
  return count % 2 === 1;
}

async function* readBlocks(
  { path, written }: GrowingFile,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let isWritten = written === undefined;
  const end = Promise.resolve(written).then(() => {
    isWritten = true;
  });
  end.catch(() => undefined);
  const pause = () => Promise.race([end, delay(pauseMs)]);
  let handle: FileHandle | undefined;
  try {
    while (handle === undefined) {
      const isLast = isWritten;
      handle = await open(path).catch((error: unknown) => {
        if (isLast) throw error;
        return undefined;
      });
      if (handle === undefined) await pause();
    }
    for (;;) {
      signal.throwIfAborted();
      const isLast = isWritten;
      const block = Buffer.allocUnsafe(blockBytes);
      const { bytesRead } = await handle.read(block, 0, blockBytes);
      if (bytesRead > 0) yield block.subarray(0, bytesRead);
      else if (isLast) break;
      else await pause();
    }
    await end;
  } finally {
    await handle?.close();
  }
}
