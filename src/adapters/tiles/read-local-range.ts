import { closeSync, constants, openSync, readSync } from "node:fs";
import { Problem } from "../../core/errors.ts";
import { hasErrorCode } from "../runtime/error-code.ts";

/**
 * Reads a part of a file, and fewer bytes where it ends. It waits for the disk: only a thread of its own may call
 * it. That is a tenth of the time of four asynchronous steps. Storage has resolved the links of the
 * name, so a link that has taken the file's place since is not followed.
 */
export function readLocalRange(file: string, offset: number, length: number): Uint8Array {
  const descriptor = openFile(file);
  try {
    const bytes = new Uint8Array(length);
    const read = readSync(descriptor, bytes, 0, length, offset);
    return read === length ? bytes : bytes.slice(0, read);
  } finally {
    closeSync(descriptor);
  }
}

function openFile(file: string): number {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT", "ELOOP")) throw error;
    throw new Problem("LAYER_UNREADABLE", "The layer's file is not in storage any more.");
  }
}
