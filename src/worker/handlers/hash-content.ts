/** SHA-256 of content as a multihash: `1220` and 64 hexadecimal digits. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export async function hashFile(file: string, signal: AbortSignal): Promise<string> {
  return hashStream(createReadStream(file, { highWaterMark: 1024 * 1024 }), signal);
}

export async function hashStream(stream: Readable, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(stream, hash, { signal });
  return `1220${hash.digest("hex")}`;
}

/**
 * The hash of a submitted source. One file has its own hash, which the sender can compute too.
 * Several files (a shapefile) have the hash of a list, one line of extension and hash for each
 * file: a shapefile with a changed table is other content, even if its shapes are the same.
 */
export async function hashSource(files: readonly string[], signal: AbortSignal): Promise<string> {
  const [only, ...others] = files;
  if (only !== undefined && others.length === 0) return hashFile(only, signal);
  const lines: string[] = [];
  for (const file of files) lines.push(`${path.extname(file)} ${await hashFile(file, signal)}\n`);
  return `1220${createHash("sha256").update(lines.sort().join("")).digest("hex")}`;
}

/** The hash of several hashes in their order; null if one of them is unknown. */
export function hashTogether(hashes: readonly (string | null | undefined)[]): string | null {
  if (hashes.length === 0 || hashes.some((hash) => hash == null)) return null;
  const [only, ...others] = hashes;
  if (others.length === 0) return only ?? null;
  return `1220${createHash("sha256").update(hashes.join("\n")).digest("hex")}`;
}
