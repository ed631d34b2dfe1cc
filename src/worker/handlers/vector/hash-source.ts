import { createHash } from "node:crypto";
import path from "node:path";
import { hashFile } from "../raster/hash-file.ts";

/**
 * What was handed in, as a multihash: the file's own hash, which whoever sent it can compute too.
 * Of several files the hash of their list, a line of ending and hash for each: a shapefile whose
 * table changed is other content, though its shapes are the same.
 */
export async function hashSource(files: readonly string[], signal: AbortSignal): Promise<string> {
  const [only, ...others] = files;
  if (only !== undefined && others.length === 0) return hashFile(only, signal);
  const lines: string[] = [];
  for (const file of files) lines.push(`${path.extname(file)} ${await hashFile(file, signal)}\n`);
  return `1220${createHash("sha256").update(lines.sort().join("")).digest("hex")}`;
}
