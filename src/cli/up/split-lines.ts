import type { Readable } from "node:stream";
import { createInterface } from "node:readline";

/** Calls back for each line; one without an end at the close of the stream counts too. */
export function splitLines(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Infinity }).on("line", onLine);
}
