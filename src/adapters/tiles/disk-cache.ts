/**
 * Encoded pictures below a folder, up to a size. A file's name is the hash of what it shows, layer
 * version included, so nothing in it is ever stale; what was unused for longest goes first. Losing
 * it costs time only: whatever fails here is as if nothing had been kept.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";

export interface DiskCache {
  get(key: string): Promise<Uint8Array | undefined>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** For who waits until everything is written. */
  settled(): Promise<void>;
}

export function createDiskCache(folder: string, mostBytes: number): DiskCache {
  /** File names and their sizes, the one unused for longest first. */
  let known: Promise<Map<string, number>> | undefined;
  let total = 0;
  let last = Promise.resolve();

  const fileOf = (name: string) => path.join(folder, name.slice(0, 2), name);

  async function list(): Promise<Map<string, number>> {
    const names = await readdir(folder, { recursive: true }).catch(() => []);
    const found = await Promise.all(
      names.map(async (name) => {
        const facts = await stat(path.join(folder, name)).catch(() => undefined);
        return facts?.isFile() === true ? { name: path.basename(name), facts } : undefined;
      }),
    );
    const files = found.filter((each) => each !== undefined);
    files.sort((a, b) => a.facts.mtimeMs - b.facts.mtimeMs);
    total = files.reduce((sum, { facts }) => sum + facts.size, 0);
    return new Map(files.map(({ name, facts }) => [name, facts.size]));
  }

  async function write(key: string, bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength > mostBytes / 10) return;
    const sizes = await (known ??= list());
    const name = nameOf(key);
    if (sizes.has(name)) return;
    const file = fileOf(name);
    await mkdir(path.dirname(file), { recursive: true });
    const draft = path.join(path.dirname(file), `${randomUUID()}.part`);
    await writeFile(draft, bytes);
    await rename(draft, file);
    sizes.set(name, bytes.byteLength);
    total += bytes.byteLength;
    for (const [oldest, size] of sizes) {
      if (total <= mostBytes) break;
      sizes.delete(oldest);
      total -= size;
      await rm(fileOf(oldest), { force: true });
    }
  }

  return {
    async get(key) {
      if (mostBytes <= 0) return undefined;
      const sizes = await (known ??= list());
      const name = nameOf(key);
      const size = sizes.get(name);
      if (size === undefined) return undefined;
      const bytes = await readFile(fileOf(name)).catch(() => undefined);
      sizes.delete(name);
      // Emptied by somebody: an operator may, at any time.
      if (bytes === undefined) total -= size;
      else sizes.set(name, size);
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

function nameOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 40);
}
