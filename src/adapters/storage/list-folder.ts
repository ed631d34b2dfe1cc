import type { Dirent, Stats } from "node:fs";
import { lstat, readdir, realpath } from "node:fs/promises";
import path from "node:path";
import { ignoreMissing } from "../runtime/error-code.ts";
import { BadCursor, largestPage, splitPrefix } from "./storage.ts";
import type { FolderPage, ListOptions, ObjectPage, StoredObject } from "./storage.ts";
import { unfinished } from "./transfer.ts";

/**
 * Lists the files below a prefix in the order of their whole paths, as a blob store does. Folders
 * are read in that order and only as far as the page needs; links are not followed.
 */
export async function listFolder(
  folder: string,
  prefix: string,
  describe: (name: string, found: Stats) => StoredObject,
  { cursor, limit = largestPage }: ListOptions = {},
): Promise<ObjectPage> {
  const parts = splitPrefix(prefix);
  const after = cursor === undefined ? "" : readCursor(cursor);
  const wanted = Math.max(1, Math.min(limit, largestPage));
  const [zone, ...above] = parts.slice(0, -1);
  const start = [zone, ...above].join("/");
  const begin = parts.join("/");
  const items: StoredObject[] = [];

  /** True: the page is full. */
  async function walk(real: string, name: string): Promise<boolean> {
    const entries = await readdir(real, { withFileTypes: true }).catch(ignoreMissing);
    for (const { entry, key } of inOrder(entries ?? [])) {
      const full = `${name}/${key}`;
      if (!full.startsWith(begin) && !begin.startsWith(full)) continue;
      if (entry.isDirectory()) {
        const isPassed = full <= after && !after.startsWith(full);
        if (!isPassed && (await walk(path.join(real, entry.name), full.slice(0, -1)))) return true;
        continue;
      }
      if (!entry.isFile() || full <= after || !full.startsWith(begin)) continue;
      if (unfinished.test(full)) continue;
      if (items.length === wanted) return true;
      const found = await lstat(path.join(real, entry.name)).catch(ignoreMissing);
      if (found !== undefined) items.push(describe(full, found));
    }
    return false;
  }

  const root = await realpath(path.join(folder, zone ?? "")).catch(ignoreMissing);
  if (root === undefined) return { items, next_cursor: null };
  // A link in the path of the prefix is not followed either.
  const real = path.join(root, ...above);
  const isInside = (await realpath(real).catch(ignoreMissing)) === real;
  const hasMore = isInside && (await walk(real, start));
  const last = items.at(-1);
  return { items, next_cursor: hasMore && last !== undefined ? toCursor(last.path) : null };
}

/** Lists what lies directly in a folder; links are not followed. */
export async function browseFolder(
  folder: string,
  prefix: string,
  describe: (name: string, found: Stats) => StoredObject,
  { cursor, limit = largestPage }: ListOptions = {},
): Promise<FolderPage> {
  const [zone, ...below] = splitPrefix(prefix.endsWith("/") ? prefix : `${prefix}/`).slice(0, -1);
  const name = [zone, ...below].join("/");
  const after = cursor === undefined ? "" : readCursor(cursor);
  const wanted = Math.max(1, Math.min(limit, largestPage));
  const root = await realpath(path.join(folder, zone ?? "")).catch(ignoreMissing);
  const real = path.join(root ?? "", ...below);
  const isInside = root !== undefined && (await realpath(real).catch(ignoreMissing)) === real;
  const entries = isInside ? await readdir(real, { withFileTypes: true }).catch(ignoreMissing) : [];
  const shown = inOrder(entries ?? []).filter(
    ({ entry, key }) =>
      key > after && (entry.isDirectory() || (entry.isFile() && !unfinished.test(key))),
  );
  const taken = shown.slice(0, wanted);
  const found = await Promise.all(
    taken.map(async ({ entry, key }) => ({
      full: `${name}/${key}`,
      stats: entry.isFile() ? await lstat(path.join(real, key)).catch(ignoreMissing) : undefined,
    })),
  );
  const last = taken.at(-1);
  return {
    folders: found.flatMap(({ full }) => (full.endsWith("/") ? [full] : [])),
    items: found.flatMap(({ full, stats }) => (stats === undefined ? [] : [describe(full, stats)])),
    next_cursor: shown.length > wanted && last !== undefined ? toCursor(last.key) : null,
  };
}

/** A folder sorts with the slash that follows its name: `a-b` comes before `a/b`. */
function inOrder(entries: readonly Dirent[]): { entry: Dirent; key: string }[] {
  return entries
    .map((entry) => ({ entry, key: entry.isDirectory() ? `${entry.name}/` : entry.name }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

function toCursor(name: string): string {
  return Buffer.from(name, "utf8").toString("base64url");
}

function readCursor(cursor: string): string {
  if (!/^[\w-]+$/.test(cursor)) throw new BadCursor();
  return Buffer.from(cursor, "base64url").toString("utf8");
}
