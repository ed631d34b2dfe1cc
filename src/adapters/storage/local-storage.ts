import type { Stats } from "node:fs";
import { constants, createReadStream } from "node:fs";
import {
  copyFile,
  open,
  readFile,
  realpath,
  rename,
  stat,
  unlink,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/clock.ts";
import { hasErrorCode, ignoreMissing } from "../runtime/error-code.ts";
import { browseFolder, listFolder } from "./list-folder.ts";
import { createUrlSigner } from "./signed-url.ts";
import { BadStoragePath, NotInStorage, defaultSignedSeconds, splitPath } from "./storage.ts";
import type { Storage, StoredObject } from "./storage.ts";
import { chunkBytes, pour, writeWhole } from "./transfer.ts";
import { makeFolder } from "../runtime/make-folder.ts";

export interface LocalStorageOptions {
  /** Put before signed URLs, such as `https://data.example.org`; without it they begin with /. */
  readonly publicUrl?: string;
  readonly clock?: Clock;
}

export interface LocalStorage extends Storage {
  /** Moves a file of the same disk to the path, at once; a crash leaves it in one of both places. */
  adopt(path: string, file: string): Promise<StoredObject>;
}

/** A folder as storage: each zone is a folder in it, or a link to one. */
export function createLocalStorage(
  folder: string,
  options: LocalStorageOptions = {},
): LocalStorage {
  const clock = options.clock ?? systemClock;
  const signer = createUrlSigner(folder);

  /**
   * Finds the file of a path. A link inside of a zone may point out of it, so the part that exists
   * is resolved and checked first.
   */
  async function locate(name: string): Promise<string | undefined> {
    const [zone, ...parts] = splitPath(name);
    const root = await realpath(path.join(folder, zone)).catch(ignoreMissing);
    if (root === undefined) return undefined;
    const target = path.join(root, ...parts);
    let existing = target;
    for (;;) {
      const real = await realpath(existing).catch(ignoreMissing);
      if (real !== undefined) {
        if (real === root || real.startsWith(root + path.sep)) return target;
        throw new BadStoragePath(name, "a link in it leads out of its zone");
      }
      existing = path.dirname(existing);
    }
  }

  async function find(name: string): Promise<{ target: string; object: StoredObject }> {
    const target = await locate(name);
    const found = target === undefined ? undefined : await stat(target).catch(ignoreMissing);
    if (target === undefined || found?.isFile() !== true) throw new NotInStorage(name);
    return { target, object: describe(name, found) };
  }

  async function makeWay(name: string): Promise<string> {
    const [zone] = splitPath(name);
    await makeFolder(path.join(folder, zone));
    const target = (await locate(name)) ?? "";
    await makeFolder(path.dirname(target));
    return target;
  }

  /** `write` fills a temporary file, which then replaces the target. */
  async function store(
    name: string,
    write: (temporary: string) => Promise<unknown>,
  ): Promise<StoredObject> {
    const target = await makeWay(name);
    await writeWhole(target, write);
    return describe(name, await stat(target));
  }

  return {
    put: async (name, bytes) => {
      await store(name, (temporary) => writeFile(temporary, bytes, { flag: "wx" }));
    },

    get: async (name) => readFile((await find(name)).target),

    head: async (name) => {
      const target = await locate(name);
      const found = target === undefined ? undefined : await stat(target).catch(ignoreMissing);
      return found?.isFile() === true ? describe(name, found) : undefined;
    },

    putFile: async (name, file, transfer) => {
      const { size } = await stat(file);
      return store(name, (temporary) => pour(file, temporary, size, transfer));
    },

    adopt: async (name, file) => {
      const target = await makeWay(name);
      await rename(file, target);
      // Synced, because the record that the file is complete must not outlive its new name.
      const above = await open(path.dirname(target), "r");
      try {
        await above.sync();
      } finally {
        await above.close();
      }
      return describe(name, await stat(target));
    },

    getFile: async (name, file, transfer) => {
      const { target, object } = await find(name);
      await writeWhole(file, (temporary) => pour(target, temporary, object.bytes, transfer));
      return object;
    },

    readRange: async (name, offset, length) => {
      const { target, object } = await find(name);
      const wanted = Math.max(0, Math.min(length, object.bytes - offset));
      const buffer = Buffer.allocUnsafe(wanted);
      const file = await open(target, "r");
      try {
        const { bytesRead } = await file.read(buffer, 0, wanted, offset);
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },

    stream: async (name, range) => {
      const { target, object } = await find(name);
      const start = range?.offset ?? 0;
      const end = range?.length === undefined ? Infinity : start + range.length - 1;
      return { object, body: createReadStream(target, { start, end, highWaterMark: chunkBytes }) };
    },

    copy: async (from, to) => {
      const { target } = await find(from);
      // Where the file system can share blocks, a copy costs nothing.
      return store(to, (temporary) => copyFile(target, temporary, constants.COPYFILE_FICLONE));
    },

    delete: async (name) => {
      const target = await locate(name);
      if (target === undefined) return false;
      return unlink(target).then(() => true, ignoreNoFile);
    },

    list: (prefix, page) => listFolder(folder, prefix, describe, page),

    browse: (prefix, page) => browseFolder(folder, prefix, describe, page),

    localPath: async (name) => (await find(name)).target,

    signedUrl: async (name, { seconds = defaultSignedSeconds, method = "GET" } = {}) => {
      const address = splitPath(name).map(encodeURIComponent).join("/");
      const expires = Math.floor(clock.now().getTime() / 1000) + seconds;
      const signature = await signer.sign(name, expires, method);
      const base = options.publicUrl?.replace(/\/+$/, "") ?? "";
      return `${base}/storage/${address}?expires=${expires}&signature=${signature}`;
    },

    checkSignature: async (name, signed) => {
      if (signed.expires * 1000 <= clock.now().getTime()) return false;
      return signer.check(name, signed);
    },
  };
}

function describe(name: string, found: Stats): StoredObject {
  const { size, mtimeMs, mtime, ino } = found;
  // With the inode, because two puts within one tick of the clock have the same time.
  const etag = `"${ino.toString(36)}-${Math.trunc(mtimeMs * 1000).toString(36)}-${size.toString(36)}"`;
  return { path: name, bytes: size, etag, modified_at: mtime.toISOString() };
}

/** A folder is not an object, so there is nothing to delete. */
function ignoreNoFile(error: unknown): false {
  if (!hasErrorCode(error, "EISDIR", "EPERM")) ignoreMissing(error);
  return false;
}
