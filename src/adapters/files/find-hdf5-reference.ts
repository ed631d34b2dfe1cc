import { externalReference, shown } from "../../core/files/problem.ts";
import type { FileProblem } from "../../core/files/problem.ts";
import type { ByteSource } from "../cog/byte-source.ts";
import type { Hdf5File, Part } from "./hdf5/hdf5-file.ts";
import { NotChecked, openHdf5, readEntry } from "./hdf5/hdf5-file.ts";
import { readDenseLinks } from "./hdf5/read-dense-links.ts";
import type { Message } from "./hdf5/read-object-header.ts";
import { readObjectHeader } from "./hdf5/read-object-header.ts";

const mostObjects = 100_000;

/** Kinds of messages in the header of an object. */
const kinds = {
  linkInfo: 0x02,
  link: 0x06,
  externalFiles: 0x07,
  layout: 0x08,
  symbolTable: 0x11,
  driver: 0x14,
  cacheImage: 0x18,
} as const;
const checked: ReadonlySet<number> = new Set(Object.values(kinds));

/**
 * Walks every group and dataset of an HDF5 file, NetCDF 4 included, and finds links to other files,
 * data that is stored in other files, and datasets that are put together from other files. What cannot
 * be walked to its end is refused.
 */
export async function findHdf5Reference(source: ByteSource): Promise<FileProblem | undefined> {
  try {
    const { file, headers, tree } = await openHdf5(source);
    return await walk(file, { headers: [...headers], trees: tree === undefined ? [] : [tree] });
  } catch (error) {
    if (!(error instanceof NotChecked)) throw error;
    return externalReference(`Its structure cannot be checked: ${error.message}.`);
  }
}

/** Addresses that are still to be visited. */
interface Ahead {
  readonly headers: number[];
  readonly trees: number[];
}

async function walk(file: Hdf5File, ahead: Ahead): Promise<FileProblem | undefined> {
  const visited = new Set<number>();
  const isNew = (address: number): boolean => {
    if (visited.has(address)) return false;
    if (visited.size >= mostObjects) throw new NotChecked("it has too many objects");
    visited.add(address);
    return true;
  };
  for (;;) {
    const tree = ahead.trees.pop();
    if (tree !== undefined) {
      if (isNew(tree)) await readOldGroup(file, tree, ahead);
      continue;
    }
    const header = ahead.headers.pop();
    if (header === undefined) return undefined;
    if (!isNew(header)) continue;
    for (const message of await readObjectHeader(file, header)) {
      const problem = await judgeMessage(file, message, ahead);
      if (problem !== undefined) return problem;
    }
  }
}

async function judgeMessage(
  file: Hdf5File,
  { type, isShared, body }: Message,
  ahead: Ahead,
): Promise<FileProblem | undefined> {
  if (!checked.has(type)) return undefined;
  if (isShared) throw new NotChecked("a part of an object that cannot be shared is shared");
  switch (type) {
    case kinds.externalFiles:
      return externalReference("It keeps the data of a dataset in another file.");
    case kinds.layout:
      return judgeLayout(body);
    case kinds.link:
      return judgeLink(body, ahead);
    case kinds.symbolTable: {
      const tree = body.address();
      if (tree !== undefined) ahead.trees.push(tree);
      return undefined;
    }
    case kinds.linkInfo: {
      for await (const link of readManyLinks(file, body)) {
        const problem = judgeLink(link, ahead);
        if (problem !== undefined) return problem;
      }
      return undefined;
    }
    case kinds.driver:
      throw new NotChecked("it is one of several files");
    case kinds.cacheImage:
      throw new NotChecked("it holds a second copy of its structure");
  }
  return undefined;
}

function judgeLayout(body: Part): FileProblem | undefined {
  const version = body.number(1);
  if (version < 1 || version > 5) throw new NotChecked(`a layout has the version ${version}`);
  if (version < 3) body.take(1);
  const virtual = 3;
  if (body.number(1) !== virtual) return undefined;
  return externalReference("It has a virtual dataset, which is put together from other files.");
}

function judgeLink(body: Part, ahead: Ahead): FileProblem | undefined {
  if (body.number(1) !== 1) throw new NotChecked("a link has an unknown version");
  const flags = body.number(1);
  const type = (flags & 8) === 0 ? 0 : body.number(1);
  if ((flags & 4) !== 0) body.take(8);
  if ((flags & 16) !== 0) body.take(1);
  const name = body.take(body.number(2 ** (flags & 3))).toString("utf8");
  const [hard, soft] = [0, 1];
  if (type === hard) {
    const header = body.address();
    if (header !== undefined) ahead.headers.push(header);
    return undefined;
  }
  // A soft link names a path in this file, whose groups are all walked.
  if (type === soft) return undefined;
  return externalReference(`It has a link to another file ("${shown(name)}").`);
}

/** Both indexes of a group are followed: a hostile file may have different links in them. */
async function* readManyLinks(file: Hdf5File, body: Part): AsyncGenerator<Part> {
  if (body.number(1) !== 0) throw new NotChecked("a group has an unknown version");
  const flags = body.number(1);
  if ((flags & 1) !== 0) body.take(8);
  const heap = body.address();
  const byName = body.address();
  const byCreation = (flags & 2) === 0 ? undefined : body.address();
  if (heap === undefined) return;
  for (const tree of [byName, byCreation]) {
    if (tree !== undefined) yield* readDenseLinks(file, heap, tree);
  }
}

/** A node of the B-tree (version 1) of a group, with the symbol tables below it. */
async function readOldGroup(file: Hdf5File, address: number, ahead: Ahead): Promise<void> {
  const { offsetBytes, lengthBytes } = file;
  const start = await file.read(address, 8 + 2 * offsetBytes);
  start.expect("TREE", 0);
  const level = start.number(1);
  const used = start.number(2);
  start.address();
  const next = start.address();
  if (next !== undefined) ahead.trees.push(next);
  const from = address + 8 + 2 * offsetBytes;
  const children = await file.read(from, used * (lengthBytes + offsetBytes));
  for (let index = 0; index < used; index += 1) {
    children.length();
    const child = children.address();
    if (child === undefined) throw new NotChecked("a group leads nowhere");
    if (level > 0) ahead.trees.push(child);
    else await readSymbolTable(file, child, ahead);
  }
}

async function readSymbolTable(file: Hdf5File, address: number, ahead: Ahead): Promise<void> {
  const start = await file.read(address, 8);
  start.expect("SNOD", 1);
  start.take(1);
  const count = start.number(2);
  const entries = await file.read(address + 8, count * (2 * file.offsetBytes + 24));
  for (let index = 0; index < count; index += 1) {
    const { header, tree } = readEntry(entries);
    if (header !== undefined) ahead.headers.push(header);
    if (tree !== undefined) ahead.trees.push(tree);
  }
}
