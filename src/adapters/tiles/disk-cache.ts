/**
 * Encoded pictures below a folder, up to a size. A file's name is the hash of its key, which names
 * the layer's version, so no file is ever stale; the least recently used files are deleted first.
 * Losing a file costs time only, so errors of the file system count as a miss.
 */
import { createHash, randomUUID } from "node:crypto";
import { readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { LRUCache } from "lru-cache";
import { once } from "../../core/once.ts";
import { makeFolder } from "../runtime/make-folder.ts";

export interface DiskCache {
  get(key: string): Promise<Uint8Array | undefined>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Resolves when every write so far is done. */
  settled(): Promise<void>;
}

/** `mostBytes` of 0 keeps nothing. */
export function createDiskCache(folder: string, mostBytes: number): DiskCache {
  const removals: Promise<void>[] = [];
  const fileOf = (name: string) => path.join(folder, name.slice(0, 2), name);

  /** Sizes by file name. Made at the first use, from the files that are there. */
  const sizes = once(async () => {
    const known = new LRUCache<string, number>({
      maxSize: mostBytes,
      sizeCalculation: (size) => Math.max(1, size),
      dispose: (_size, name, reason) => {
        if (reason === "evict") removals.push(rm(fileOf(name), { force: true }));
      },
    });
    for (const { name, size } of await listFiles(folder)) known.set(name, size);
    return known;
  });

  async function write(key: string, bytes: Uint8Array): Promise<void> {
    // One large picture would push out many small ones.
    if (bytes.byteLength > mostBytes / 10) return;
    const known = await sizes();
    const name = nameOf(key);
    if (known.has(name)) return;
    const file = fileOf(name);
    await makeFolder(path.dirname(file));
    const draft = path.join(path.dirname(file), `${randomUUID()}.part`);
    await writeFile(draft, bytes);
    await rename(draft, file);
    known.set(name, bytes.byteLength);
    await Promise.all(removals.splice(0));
  }

  let last = Promise.resolve();
  return {
    async get(key) {
      if (mostBytes <= 0) return undefined;
      const known = await sizes();
      const name = nameOf(key);
      if (known.get(name) === undefined) return undefined;
      const bytes = await readFile(fileOf(name)).catch(() => undefined);
      // An operator may empty the folder at any time.
      if (bytes === undefined) known.delete(name);
      return bytes;
    },
    put(key, bytes) {
      // One after the other: a burst of tiles must not become a burst of writes.
      last = last.then(() => write(key, bytes)).catch(() => undefined);
      return last;
    },
    settled: () => last,
  };
}

/** Lists the files, the oldest first. */
async function listFiles(folder: string): Promise<{ name: string; size: number }[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const facts = await stat(path.join(folder, name)).catch(() => undefined);
      return facts?.isFile() === true ? { name: path.basename(name), facts } : undefined;
    }),
  );
  return found
    .filter((each) => each !== undefined)
    .sort((a, b) => a.facts.mtimeMs - b.facts.mtimeMs)
    .map(({ name, facts }) => ({ name, size: facts.size }));
}

function nameOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 40);
}
