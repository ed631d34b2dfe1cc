import { judgeMetadata } from "../../core/files/judge-metadata.ts";
import { externalReference } from "../../core/files/problem.ts";
import type { FileProblem } from "../../core/files/problem.ts";
import type { ByteSource } from "../cog/byte-source.ts";
import { TiffError, buffered } from "../cog/byte-source.ts";
import { readDirectory } from "../cog/read-directory.ts";
import { readHeader } from "../cog/read-tiff-structure.ts";

const gdalMetadata = 42_112;
const subDirectories = 330;
const mostDirectories = 4096;
const longestMetadata = 16 * 1024 * 1024;

/** The type of text. GDAL also takes numbers of any type for letters, and writes text only. */
const ascii = 2;

/**
 * Searches GDAL's metadata in every directory of a TIFF, also in those below another directory. GDAL
 * skips a directory or a field that is damaged, and so does this: what follows is searched.
 */
export async function findTiffReference(given: ByteSource): Promise<FileProblem | undefined> {
  const source = buffered(given);
  const header = await unlessDamaged(readHeader(source));
  if (header === undefined) return undefined;
  const waiting = [header.first];
  const visited = new Set<number>();
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at === 0 || visited.has(at)) continue;
    if (visited.size >= mostDirectories) {
      return externalReference("It has too many directories to be checked.");
    }
    visited.add(at);
    const directory = await unlessDamaged(readDirectory(source, header.layout, at));
    if (directory === undefined) continue;
    const below = await unlessDamaged(directory.numbers(subDirectories, mostDirectories));
    waiting.push(...(below ?? []), directory.next);
    for (const field of directory.fields(gdalMetadata)) {
      if (field.type !== ascii) return externalReference("Its GDAL metadata is not text.");
      if (field.bytes > longestMetadata) {
        return externalReference("Its GDAL metadata is too long to be checked.");
      }
      const text = Buffer.from(await source.read(field.at, field.bytes)).toString("latin1");
      const problem = judgeMetadata("Its GDAL metadata", text);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** Undefined for what is damaged: the checks of the file's structure report it. */
function unlessDamaged<Read>(reading: Promise<Read>): Promise<Read | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof TiffError) return undefined;
    throw error;
  });
}
