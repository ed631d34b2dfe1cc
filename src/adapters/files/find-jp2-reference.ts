import { judgeMetadata } from "../../core/files/judge-metadata.ts";
import { externalReference } from "../../core/files/problem.ts";
import type { FileProblem } from "../../core/files/problem.ts";
import type { ByteSource } from "../cog/byte-source.ts";

const mostBoxes = 10_000;
const longestXml = 16 * 1024 * 1024;
/** Boxes that hold other boxes. */
const parents = new Set(["asoc", "jp2h", "res ", "uinf", "jpch", "jplh"]);
/** Boxes that name other files, or parts of them, as the place of the pixels. */
const leading = new Set(["dtbl", "url ", "ftbl", "flst", "cref"]);

/**
 * Walks the boxes of a JPEG 2000 file. The lengths are not trusted: GDAL reads a box, or the boxes in
 * it, also where its parent or the file ends earlier. In a bare codestream the walk ends at once.
 */
export async function findJp2Reference(source: ByteSource): Promise<FileProblem | undefined> {
  const waiting: [from: number, to: number][] = [[0, source.size]];
  let count = 0;
  for (let range = waiting.pop(); range !== undefined; range = waiting.pop()) {
    const [from, to] = range;
    for (let at = from; at + 8 <= to;) {
      if (++count > mostBoxes) return externalReference("It has too many boxes to be checked.");
      const box = await readBox(source, at);
      if (box === undefined) {
        return externalReference("Its boxes are damaged, so that they cannot be checked.");
      }
      const { type, content, end } = box;
      if (leading.has(type)) {
        return externalReference(`It names another file as a part of itself (box "${type}").`);
      }
      if (parents.has(type)) waiting.push([content, Math.min(end, source.size)]);
      if (type === "xml " || type === "lbl ") {
        const problem = await judgeXml(source, content, Math.min(end, source.size));
        if (problem !== undefined) return problem;
      }
      at = end;
    }
  }
  return undefined;
}

async function readBox(source: ByteSource, at: number) {
  const head = Buffer.from(await source.read(at, 16));
  const short = head.readUInt32BE(0);
  const isLong = short === 1;
  if (isLong && head.length < 16) return undefined;
  const rest = source.size - at;
  const length = isLong ? Number(head.readBigUInt64BE(8)) : short === 0 ? rest : short;
  const content = at + (isLong ? 16 : 8);
  const end = at + length;
  return end < content ? undefined : { type: head.toString("latin1", 4, 8), content, end };
}

const links: readonly RegExp[] = [
  /<!DOCTYPE|<!ENTITY/i,
  /xlink:href\s*=\s*["'](?!#|urn:|gmljp2:)[^"']*["']/i,
  /<GDALMultiDomainMetadata/i,
];

async function judgeXml(
  source: ByteSource,
  from: number,
  to: number,
): Promise<FileProblem | undefined> {
  if (to - from > longestXml) return externalReference("Its metadata is too long to be checked.");
  const text = Buffer.from(await source.read(from, to - from)).toString("latin1");
  const problem = judgeMetadata("Its metadata", text);
  if (problem !== undefined) return problem;
  const link = links.map((pattern) => pattern.exec(text)?.[0]).find((found) => found !== undefined);
  if (link === undefined) return undefined;
  return externalReference(`Its metadata names another place: "${link.slice(0, 80)}".`);
}
