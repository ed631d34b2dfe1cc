import type { Hdf5File, Part } from "./hdf5-file.ts";
import { NotChecked } from "./hdf5-file.ts";

export interface Message {
  readonly type: number;
  readonly isShared: boolean;
  readonly body: Part;
}

const continuation = 0x10;
const mostChunks = 4096;
const longestChunk = 16 * 1024 * 1024;

/** Reads all messages of an object, also those in chunks elsewhere that continue its header. */
export async function readObjectHeader(file: Hdf5File, address: number): Promise<Message[]> {
  const start = await file.read(address, 4);
  const isNew = start.bytes.toString("latin1") === "OHDR";
  const head = isNew ? await readNewPrefix(file, address) : await readOldPrefix(file, address);
  const messages: Message[] = [];
  const chunks = [head.chunk];
  let count = 0;
  for (let chunk = chunks.pop(); chunk !== undefined; chunk = chunks.pop()) {
    const [at, length] = chunk;
    count += 1;
    if (count > mostChunks || length > longestChunk) throw new NotChecked("a header is too long");
    for (const message of readMessages(await file.read(at, length), head)) {
      messages.push(message);
      if (message.type !== continuation) continue;
      const [from, bytes] = [message.body.address(), message.body.length()];
      if (from === undefined) throw new NotChecked("a header goes on nowhere");
      if (!isNew) chunks.push([from, bytes]);
      else {
        (await file.read(from, 4)).expect("OCHK");
        chunks.push([from + 4, Math.max(0, bytes - 8)]);
      }
    }
  }
  return messages;
}

interface Prefix {
  readonly chunk: [at: number, length: number];
  readonly isNew: boolean;
  /** Messages of a new header may have a number of two bytes. */
  readonly isNumbered: boolean;
}

async function readOldPrefix(file: Hdf5File, address: number): Promise<Prefix> {
  const part = await file.read(address, 12);
  if (part.number(1) !== 1) throw new NotChecked("there is no header where one should be");
  part.take(7);
  return { chunk: [address + 16, part.number(4)], isNew: false, isNumbered: false };
}

async function readNewPrefix(file: Hdf5File, address: number): Promise<Prefix> {
  const part = await file.read(address, 6);
  part.expect("OHDR", 2);
  const flags = part.number(1);
  const before = 6 + ((flags & 0x20) === 0 ? 0 : 16) + ((flags & 0x10) === 0 ? 0 : 4);
  const sizeBytes = 2 ** (flags & 3);
  const length = (await file.read(address + before, sizeBytes)).number(sizeBytes);
  const chunk: [number, number] = [address + before + sizeBytes, length];
  return { chunk, isNew: true, isNumbered: (flags & 4) !== 0 };
}

function* readMessages(chunk: Part, { isNew, isNumbered }: Prefix): Generator<Message> {
  const head = isNew ? (isNumbered ? 6 : 4) : 8;
  while (chunk.left >= head) {
    const type = chunk.number(isNew ? 1 : 2);
    const length = chunk.number(2);
    const flags = chunk.number(1);
    chunk.take(head - (isNew ? 4 : 5));
    yield { type, isShared: (flags & 2) !== 0, body: chunk.part(length) };
  }
}
