import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { UploadSource } from "../../core/api/send-upload.ts";

/** A local file with its hash, which is computed before the first byte is sent. */
export async function openSource(file: string): Promise<UploadSource & { close(): Promise<void> }> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), hash);
  const handle = await open(file, "r");
  const { size } = await handle.stat();
  return {
    size,
    sha256: hash.digest("hex"),
    read: async (offset, length) => {
      const bytes = new Uint8Array(length);
      const { bytesRead } = await handle.read(bytes, 0, length, offset);
      return bytes.subarray(0, bytesRead);
    },
    close: () => handle.close(),
  };
}

export interface LocalFile {
  readonly file: string;
  /** Below the target: the name, or for a folder its name and all below it. */
  readonly name: string;
  readonly bytes: number;
}

/** All files of what was given; hidden files of folders are left out. */
export async function findFiles(given: readonly string[]): Promise<LocalFile[]> {
  const found: LocalFile[] = [];
  async function visit(file: string, name: string): Promise<void> {
    const facts = await stat(file);
    if (!facts.isDirectory()) {
      found.push({ file, name, bytes: facts.size });
      return;
    }
    const entries = await readdir(file, { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith(".") || entry.isSymbolicLink()) continue;
      await visit(path.join(file, entry.name), `${name}/${entry.name}`);
    }
  }
  for (const each of given) await visit(each, path.basename(path.resolve(each)));
  return found;
}

/** The files that make up one data set: a Shapefile comes with those beside it. */
export async function withSidecars(file: string): Promise<string[]> {
  if (path.extname(file).toLowerCase() !== ".shp") return [file];
  const stem = path.basename(file, path.extname(file)).toLowerCase();
  const names = await readdir(path.dirname(file));
  const belongs = (name: string) =>
    /\.(?:dbf|shx|prj|cpg)$/i.test(name) && path.parse(name).name.toLowerCase() === stem;
  return [file, ...names.filter(belongs).map((name) => path.join(path.dirname(file), name))];
}
