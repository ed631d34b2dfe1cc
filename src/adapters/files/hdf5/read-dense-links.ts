/**
 * Reads the links of a group that has many: a B-tree (version 2) names places in a fractal heap, whose
 * blocks double in size from row to row.
 */
import type { Hdf5File, Part } from "./hdf5-file.ts";
import { NotChecked } from "./hdf5-file.ts";

const mostLinks = 100_000;

/** Answers each link message that this index of the group leads to. */
export async function* readDenseLinks(
  file: Hdf5File,
  heapAddress: number,
  treeAddress: number,
): AsyncGenerator<Part> {
  const heap = await openHeap(file, heapAddress);
  for await (const id of readTree(file, treeAddress)) yield heap.read(id);
}

async function* readTree(file: Hdf5File, address: number): AsyncGenerator<Part> {
  const head = await file.read(address, 16 + file.offsetBytes + 2 + file.lengthBytes);
  head.expect("BTHD", 0);
  const type = head.number(1);
  // An index by name keeps a hash before the id of the heap, one by creation its number.
  const before = new Map([
    [5, 4],
    [6, 8],
  ]).get(type);
  if (before === undefined) throw new NotChecked("an index of links has an unknown type");
  const nodeBytes = head.number(4);
  const recordBytes = head.number(2);
  const depth = head.number(2);
  head.take(2);
  const root = head.address();
  const rootCount = head.number(2);
  if (recordBytes <= before || nodeBytes < 32 || nodeBytes > 1024 * 1024 || depth > 16) {
    throw new NotChecked("an index of links is damaged");
  }
  if (root === undefined) return;
  const sizes = pointerSizes(file, nodeBytes, recordBytes, depth);
  const waiting = [{ at: root, count: rootCount, level: depth }];
  let seen = 0;
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const part = await file.read(node.at, nodeBytes);
    part.expect(node.level === 0 ? "BTLF" : "BTIN", 0);
    if (part.number(1) !== type) throw new NotChecked("an index of links is damaged");
    for (let index = 0; index < node.count; index += 1) {
      if (++seen > mostLinks) throw new NotChecked("a group has too many links");
      part.take(before);
      yield part.part(recordBytes - before);
    }
    if (node.level === 0) continue;
    const { countBytes, totalBytes } = sizes[node.level] ?? { countBytes: 0, totalBytes: 0 };
    for (let index = 0; index <= node.count; index += 1) {
      const at = part.address();
      const count = part.number(countBytes);
      part.take(totalBytes);
      if (at === undefined || waiting.length > mostLinks) {
        throw new NotChecked("an index of links is damaged");
      }
      waiting.push({ at, count, level: node.level - 1 });
    }
  }
}

/** How many bytes a node of each level spends on the counts of its children. */
function pointerSizes(file: Hdf5File, nodeBytes: number, recordBytes: number, depth: number) {
  const frame = 10;
  const leafMost = Math.floor((nodeBytes - frame) / recordBytes);
  const countBytes = bytesFor(leafMost);
  const sizes = [{ countBytes, totalBytes: 0 }];
  let totalBelow = leafMost;
  for (let level = 1; level <= depth; level += 1) {
    const totalBytes = level === 1 ? 0 : bytesFor(totalBelow);
    const pointer = file.offsetBytes + countBytes + totalBytes;
    const most = Math.floor((nodeBytes - frame - pointer) / (recordBytes + pointer));
    sizes.push({ countBytes, totalBytes });
    totalBelow = (most + 1) * totalBelow + most;
  }
  return sizes;
}

function bytesFor(largest: number): number {
  return Math.floor(Math.log2(Math.max(1, largest)) / 8) + 1;
}

interface Heap {
  read(id: Part): Promise<Part>;
}

async function openHeap(file: Hdf5File, address: number): Promise<Heap> {
  const { offsetBytes, lengthBytes } = file;
  const head = await file.read(address, 22 + 3 * offsetBytes + 12 * lengthBytes);
  head.expect("FRHP", 0);
  head.take(2);
  if (head.number(2) !== 0) throw new NotChecked("its links are compressed");
  head.take(1);
  const mostManaged = head.number(4);
  head.take(2 * offsetBytes + 10 * lengthBytes);
  const width = head.number(2);
  const firstBlock = head.length();
  const largestDirect = head.length();
  const heapBits = head.number(2);
  head.take(2);
  const rootAddress = head.address();
  const rows = head.number(2);
  if (rootAddress === undefined || width === 0 || firstBlock === 0 || heapBits > 48 || rows > 64) {
    throw new NotChecked("a heap of links is damaged");
  }
  const root = rootAddress;
  const spanBytes = Math.ceil(heapBits / 8);
  const sizeBytes = Math.min(
    Math.floor((Math.log2(Math.max(1, largestDirect)) + 7) / 8),
    bytesFor(mostManaged),
  );

  /** The direct block with this place of the heap, and the place where it begins. */
  async function findBlock(place: number): Promise<{ at: number; begins: number }> {
    if (rows === 0) return { at: root, begins: 0 };
    let [at, begins, rowsHere] = [root, 0, rows];
    for (;;) {
      const { row, column, from, bytes } = locate(place - begins);
      if (row >= rowsHere) throw new NotChecked("a link is outside its heap");
      const letters = await file.read(at, 5);
      letters.expect("FHIB", 0);
      const entries = at + 5 + offsetBytes + spanBytes;
      const child = (
        await file.read(entries + (row * width + column) * offsetBytes, offsetBytes)
      ).address();
      if (child === undefined) throw new NotChecked("a link is outside its heap");
      begins += from;
      if (bytes <= largestDirect) return { at: child, begins };
      at = child;
      rowsHere = Math.log2(bytes / (firstBlock * width)) + 1;
    }
  }

  function locate(place: number) {
    for (let row = 0; row < 64; row += 1) {
      const bytes = row === 0 ? firstBlock : firstBlock * 2 ** (row - 1);
      const start = row === 0 ? 0 : width * bytes;
      const column = Math.floor((place - start) / bytes);
      if (column < width) return { row, column, bytes, from: start + column * bytes };
    }
    throw new NotChecked("a link is outside its heap");
  }

  return {
    read: async (id) => {
      // Other bits: the link is kept elsewhere because it is large, or in the id itself.
      if (id.number(1) !== 0) throw new NotChecked("a link is not kept in its heap");
      const place = id.number(spanBytes);
      const length = id.number(sizeBytes);
      const { at, begins } = await findBlock(place);
      (await file.read(at, 5)).expect("FHDB", 0);
      return file.read(at + place - begins, length);
    },
  };
}
