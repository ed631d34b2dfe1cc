import { constants, createReadStream } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { open, rm, stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { hasErrorCode, ignoreMissing } from "../runtime/error-code.ts";
import { makeFolder } from "../runtime/make-folder.ts";
import type { LocalStorage } from "./local-storage.ts";
import type { Staging, Written } from "./staging.ts";
import { BodyTooLong, piecesOf } from "./staging.ts";
import { chunkBytes } from "./transfer.ts";

/** How many bytes a crash may cost a client that sends one large part. */
const syncedEvery = 8 * 1024 * 1024;

/** Stages uploads as files beside the zones, so that publishing one is a rename. */
export function createLocalStaging(folder: string, storage: LocalStorage): Staging {
  const fileOf = (id: string) => path.join(folder, ".uploads", id);
  const openStaged = async (id: string): Promise<FileHandle> => {
    await makeFolder(path.join(folder, ".uploads"));
    return open(fileOf(id), constants.O_RDWR | constants.O_CREAT, 0o640);
  };

  return {
    write: async (id, offset, body, { limit, onBytes, onDurable }) => {
      const file = await openStaged(id);
      let written = 0;
      let synced = 0;
      try {
        await file.truncate(offset);
        for await (const chunk of piecesOf(body)) {
          if (written + chunk.length > limit) throw new BodyTooLong();
          onBytes(chunk);
          await writeAll(file, chunk, offset + written);
          written += chunk.length;
          if (written - synced < syncedEvery) continue;
          await file.datasync();
          synced = written;
          await onDurable(synced);
        }
        await file.datasync();
        return { bytes: written };
      } catch (error) {
        return await keep(file, { bytes: written, error }, synced);
      } finally {
        await file.close();
      }
    },

    read: async (id, length) =>
      length === 0
        ? Readable.from([])
        : createReadStream(fileOf(id), { end: length - 1, highWaterMark: chunkBytes }),

    publish: async (id, name, length) => {
      const staged = fileOf(id);
      if (length > 0 && (await stat(staged).catch(ignoreMissing)) === undefined) return undefined;
      const file = await openStaged(id);
      try {
        await file.truncate(length);
        await file.sync();
      } finally {
        await file.close();
      }
      return storage.adopt(name, staged).catch(async (error: unknown) => {
        // A zone may be a link to another disk.
        if (!hasErrorCode(error, "EXDEV")) throw error;
        const stored = await storage.putFile(name, staged);
        await rm(staged, { force: true });
        return stored;
      });
    },

    remove: (id) => rm(fileOf(id), { force: true }),
  };
}

/** A write may take a part of the bytes only. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Saves what came before an error; on a disk that is full, at least what was saved before. */
async function keep(file: FileHandle, written: Written, synced: number): Promise<Written> {
  return file.datasync().then(
    () => written,
    () => ({ ...written, bytes: synced }),
  );
}
