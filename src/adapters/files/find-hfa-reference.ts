import { externalReference, shown } from "../../core/files/problem.ts";
import type { FileProblem } from "../../core/files/problem.ts";
import type { ByteSource } from "../cog/byte-source.ts";

/** Next, previous, parent, child, data, size of data; then a name and a type in fixed lengths. */
const nodeBytes = 128;
const mostNodes = 100_000;

/** Nodes by which an Erdas Imagine file keeps its pixels or overviews in another file. */
const leading = /^(?:ExternalRasterDMS|RRDNamesList|DependentFile|DependentLayerName)$/i;
const leadingType =
  /^(?:ImgExternalRaster|Eimg_(?:RRDNamesList|DependentFile|DependentLayerName))$/i;

/** Walks the tree of an Erdas Imagine file, in which every part of it is a node. */
export async function findHfaReference(source: ByteSource): Promise<FileProblem | undefined> {
  const damaged = externalReference("Its tree of nodes is damaged, so that it cannot be checked.");
  const head = viewOf(await source.read(16, 4));
  if (head.byteLength < 4) return damaged;
  const header = viewOf(await source.read(head.getUint32(0, true), 20));
  if (header.byteLength < 20) return damaged;
  const waiting = [header.getUint32(8, true)];
  const visited = new Set<number>();
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at === 0) continue;
    if (visited.has(at) || visited.size >= mostNodes) return damaged;
    visited.add(at);
    const bytes = await source.read(at, nodeBytes);
    if (bytes.length < nodeBytes - 8) return damaged;
    const node = viewOf(bytes);
    const name = textOf(bytes.subarray(24, 88));
    const type = textOf(bytes.subarray(88, 120));
    if (leading.test(name) || leadingType.test(type)) {
      return externalReference(`It keeps a part of its data in another file (${shown(name)}).`);
    }
    waiting.push(node.getUint32(0, true), node.getUint32(12, true));
  }
  return undefined;
}

function textOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("latin1");
  return text.slice(0, Math.max(0, `${text}\0`.indexOf("\0")));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
