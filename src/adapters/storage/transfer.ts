import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TransferOptions } from "./storage.ts";

/** With the default of 64 KiB a copy of a large raster is mostly overhead. */
export const chunkBytes = 4 * 1024 * 1024;

/** Temporary files, which a listing leaves out. */
export const unfinished = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part$/;

/** The target appears when it is complete and synced to disk, or not at all. */
export async function writeWhole(
  target: string,
  write: (temporary: string) => Promise<unknown>,
): Promise<void> {
  const temporary = `${target}.${randomUUID()}.part`;
  try {
    await write(temporary);
    const file = await open(temporary, "r+");
    // Synced, because a reference to the file is stored next and must not outlive its bytes.
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

export async function pour(
  source: Readable | string,
  file: string,
  total: number,
  options: TransferOptions = {},
): Promise<void> {
  const from =
    typeof source === "string" ? createReadStream(source, { highWaterMark: chunkBytes }) : source;
  const { onProgress, signal } = options;
  const to = createWriteStream(file, { flags: "wx", highWaterMark: chunkBytes });
  const end = signal === undefined ? {} : { signal };
  if (onProgress === undefined) await pipeline(from, to, end);
  else await pipeline(from, countBytes(total, onProgress), to, end);
}

export function countBytes(total: number, onProgress: (fraction: number) => void): Transform {
  let passed = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      passed += chunk.length;
      onProgress(total === 0 ? 1 : Math.min(1, passed / total));
      done(null, chunk);
    },
  });
}
