import { NotInStorage } from "../../../adapters/storage/storage.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError, TransientError } from "../../errors.ts";
import { hashStream } from "../hash-content.ts";

export interface CopiedFile {
  readonly bytes: number;
  /** Of the copy, as a multihash. */
  readonly checksum: string;
}

/**
 * Copies a file within storage and reads the copy once to hash it. A repeated task writes the same
 * bytes to the same path.
 */
export async function copyChecked(
  { storage, signal }: HandlerContext,
  from: string,
  to: string,
): Promise<CopiedFile> {
  signal.throwIfAborted();
  const found = await storage.head(from);
  if (found === undefined) {
    throw new PermanentError(`There is nothing at ${from} to export.`, { code: "BLOB_NOT_FOUND" });
  }
  const copied = await storage.copy(from, to);
  if (copied.bytes !== found.bytes) {
    throw new TransientError(`Of ${found.bytes} bytes ${copied.bytes} were copied.`, {
      code: "COPY_INCOMPLETE",
    });
  }
  const { body } = await storage.stream(to).catch((error: unknown) => {
    // Another task of this export may have removed it.
    if (error instanceof NotInStorage) throw new TransientError(error.message);
    throw error;
  });
  return { bytes: copied.bytes, checksum: await hashStream(body, signal) };
}
