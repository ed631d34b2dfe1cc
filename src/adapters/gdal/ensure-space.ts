import { statfs } from "node:fs/promises";
import { KnownError } from "../runtime/known-error.ts";

/** Left free for other processes on the same disk. */
export const reservedBytes = 64 * 1024 * 1024;

export class NotEnough extends KnownError {
  constructor(code: "DISK_FULL" | "OUT_OF_MEMORY", what: string, needed: number, free: number) {
    const message = `This needs ${megabytes(needed)} of ${what}, and ${megabytes(free)} are free.`;
    super(code, "transient", message, { needed_bytes: needed, free_bytes: free });
  }
}

/**
 * Rejects if the disk has less free space than the work needs. Called before the work: a disk that
 * fills up after an hour would also fail the other tasks on it.
 */
export async function ensureSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free < bytes + reservedBytes)
    throw new NotEnough("DISK_FULL", `disk at ${folder}`, bytes, free);
}

export function ensureMemory(bytes: number): void {
  const free = process.availableMemory();
  if (free < bytes) throw new NotEnough("OUT_OF_MEMORY", "memory", bytes, free);
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}
