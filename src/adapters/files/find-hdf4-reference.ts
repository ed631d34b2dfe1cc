import { externalReference } from "../../core/files/problem.ts";
import type { FileProblem } from "../../core/files/problem.ts";
import type { ByteSource } from "../cog/byte-source.ts";
import { buffered } from "../cog/byte-source.ts";

const mostBlocks = 10_000;
const descriptorBytes = 12;
/** The bit of a tag whose data begins with the kind of its storage. */
const special = 0x4000;
const ofUsers = 0x8000;
const externalKind = 2;

/** Walks the descriptors of an HDF4 file: each names a part of it, or a part in another file. */
export async function findHdf4Reference(given: ByteSource): Promise<FileProblem | undefined> {
  const source = buffered(given);
  const damaged = externalReference("Its descriptors are damaged, so that it cannot be checked.");
  const visited = new Set<number>();
  for (let at = 4; at !== 0;) {
    if (visited.has(at) || visited.size >= mostBlocks) return damaged;
    visited.add(at);
    const head = Buffer.from(await source.read(at, 6));
    if (head.length < 6) return damaged;
    const count = head.readUInt16BE(0);
    const block = Buffer.from(await source.read(at + 6, count * descriptorBytes));
    if (block.length < count * descriptorBytes) return damaged;
    for (let from = 0; from < block.length; from += descriptorBytes) {
      const tag = block.readUInt16BE(from);
      if ((tag & special) === 0 || (tag & ofUsers) !== 0) continue;
      const kind = Buffer.from(await source.read(block.readUInt32BE(from + 4), 2));
      if (kind.length < 2) return damaged;
      if (kind.readUInt16BE(0) === externalKind) {
        return externalReference("It keeps a part of its data in another file.");
      }
    }
    at = head.readUInt32BE(2);
  }
  return undefined;
}
