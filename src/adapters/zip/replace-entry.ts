/**
 * Replaces the content of one file of an archive in place: the new content follows the other files, where the
 * directory was, and the directory follows it.
 */
import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";

const endBytes = 22;
const longestComment = 0xffff;
const marks = { file: 0x04034b50, record: 0x02014b50 };
const recordBytes = 46;
/** Of a record's flags: the name is UTF-8. All others tell of how the old content was packed. */
const isUtf8Name = 0x800;

/** False: the archive has another form (ZIP64, several parts), or no such file. */
export async function replaceEntry(file: string, name: string, content: Buffer): Promise<boolean> {
  const handle = await open(file, "r+");
  try {
    const { size } = await handle.stat();
    const tail = Buffer.alloc(Math.min(size, endBytes + longestComment));
    await handle.read(tail, 0, tail.length, size - tail.length);
    const at = tail.lastIndexOf(Buffer.from("PK\u0005\u0006", "latin1"));
    if (at < 0 || tail.length - at < endBytes) return false;
    const end = Buffer.from(tail.subarray(at));
    const [length, start] = [end.readUInt32LE(12), end.readUInt32LE(16)];
    if (start + length !== size - tail.length + at) return false;
    const directory = Buffer.alloc(length);
    await handle.read(directory, 0, length, start);
    const record = findRecord(directory, name);
    if (record === undefined) return false;
    const header = describe(record, content);
    record.writeUInt32LE(start, 42);
    end.writeUInt32LE(start + header.length + content.length, 16);
    const written = Buffer.concat([header, content, directory, end]);
    await handle.write(written, 0, written.length, start);
    await handle.truncate(start + written.length);
    return true;
  } finally {
    await handle.close();
  }
}

function findRecord(directory: Buffer, name: string): Buffer | undefined {
  let at = 0;
  while (at + recordBytes <= directory.length) {
    if (directory.readUInt32LE(at) !== marks.record) return undefined;
    const [named, extra, comment] = [28, 30, 32].map((each) => directory.readUInt16LE(at + each));
    const nameEnd = at + recordBytes + (named ?? 0);
    if (directory.toString("utf8", at + recordBytes, nameEnd) === name) {
      return directory.subarray(at, nameEnd);
    }
    at = nameEnd + (extra ?? 0) + (comment ?? 0);
  }
  return undefined;
}

/** Sets how the content is stored in the record of the directory, and makes the header before it. */
function describe(record: Buffer, content: Buffer): Buffer {
  record.writeUInt16LE(record.readUInt16LE(8) & isUtf8Name, 8);
  record.writeUInt16LE(0, 10);
  record.writeUInt32LE(crc32(content), 16);
  record.writeUInt32LE(content.length, 20);
  record.writeUInt32LE(content.length, 24);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(marks.file, 0);
  // From the needed version to the length of the name both have the same fields.
  record.copy(header, 4, 6, 30);
  return Buffer.concat([header, record.subarray(recordBytes)]);
}
