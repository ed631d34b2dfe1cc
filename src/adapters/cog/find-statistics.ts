import { TiffError, buffered, withFile } from "./byte-source.ts";
import { readDirectory } from "./read-directory.ts";
import { readHeader } from "./read-tiff-structure.ts";

const gdalMetadata = 42_112;
const mostDirectories = 1024;
const longestMetadata = 16 * 1024 * 1024;
const statistics = /<Item\b[^>]*\bname="STATISTICS_[A-Z_]*"[^>]*>[^<]*<\/Item>/g;

/**
 * Finds the statistics that a TIFF claims about its bands, as ranges of bytes. GDAL believes them
 * and reads no pixel, so they are blanked before it computes statistics.
 */
export async function findStatistics(
  file: string,
): Promise<readonly { readonly at: number; readonly bytes: number }[]> {
  try {
    return await withFile(file, async (given) => {
      const source = buffered(given);
      const { layout, first } = await readHeader(source);
      const found: { at: number; bytes: number }[] = [];
      const visited = new Set<number>();
      for (let at = first; at !== 0 && !visited.has(at) && visited.size < mostDirectories;) {
        visited.add(at);
        const directory = await readDirectory(source, layout, at);
        for (const field of directory.fields(gdalMetadata)) {
          if (field.bytes > longestMetadata) continue;
          const text = Buffer.from(await source.read(field.at, field.bytes)).toString("latin1");
          for (const match of text.matchAll(statistics)) {
            found.push({ at: field.at + match.index, bytes: match[0].length });
          }
        }
        at = directory.next;
      }
      return found;
    });
  } catch (error) {
    // Not a TIFF, or a damaged one: the checks of its structure say so.
    if (error instanceof TiffError) return [];
    throw error;
  }
}
