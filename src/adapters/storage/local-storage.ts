import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { BadStoragePath, NotInStorage, splitPath } from "./storage.ts";
import type { Storage } from "./storage.ts";

/** A folder as storage. */
export function createLocalStorage(folder: string): Storage {
  /**
   * Where the path really is. A link inside of the folder may point out of it, so the part that
   * exists is resolved before it is trusted.
   */
  async function locate(name: string): Promise<string> {
    const parts = splitPath(name);
    const root = await realpath(folder);
    const target = path.join(root, ...parts);
    let existing = target;
    for (;;) {
      const real = await realpath(existing).catch(ignoreMissing);
      if (real !== undefined) {
        if (real === root || real.startsWith(root + path.sep)) return target;
        throw new BadStoragePath(name, "a link in it leads out of the storage folder");
      }
      existing = path.dirname(existing);
    }
  }

  return {
    async put(name, bytes) {
      await mkdir(folder, { recursive: true });
      const target = await locate(name);
      await mkdir(path.dirname(target), { recursive: true });
      const temporary = `${target}.${randomUUID()}.part`;
      try {
        const file = await open(temporary, "wx");
        try {
          await file.writeFile(bytes);
          // A reference to it is about to be stored: it must not outlive the bytes.
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, target);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },

    async get(name) {
      const target = await locateExisting(name);
      const bytes = target === undefined ? undefined : await readFile(target).catch(ignoreMissing);
      if (bytes === undefined) throw new NotInStorage(name);
      return bytes;
    },

    async head(name) {
      const target = await locateExisting(name);
      const found = target === undefined ? undefined : await stat(target).catch(ignoreMissing);
      return found?.isFile() === true ? { path: name, bytes: found.size } : undefined;
    },
  };

  /** Before the first put there is no folder, and so there is nothing in it. */
  async function locateExisting(name: string): Promise<string | undefined> {
    splitPath(name);
    if ((await stat(folder).catch(ignoreMissing)) === undefined) return undefined;
    return locate(name);
  }
}

function ignoreMissing(error: unknown): undefined {
  const code = (error as { code?: string }).code;
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  throw error;
}
