/**
 * Reads the table `sqlite_schema` from the pages of a database, without SQLite: opening the file
 * there would already parse what it is to be checked for. The numbers in the file are not trusted.
 */
import type { SchemaRow } from "../../core/files/judge-schema.ts";
import { KnownError } from "../runtime/known-error.ts";
import type { ByteSource } from "../cog/byte-source.ts";

export class SqliteError extends KnownError {
  constructor(message: string) {
    super("SQLITE_DAMAGED", "permanent", message);
  }
}

const headerBytes = 100;
const mostPages = 20_000;
const mostRows = 50_000;
const longestRecord = 4 * 1024 * 1024;
/** Of all statements together: a thousand tables with a hundred columns have less. */
const longestSchema = 16 * 1024 * 1024;
const leaf = 0x0d;
const interior = 0x05;

interface Layout {
  readonly pageBytes: number;
  /** Without the bytes that extensions reserve at the end of each page. */
  readonly usable: number;
  readonly decode: (bytes: Uint8Array) => string;
}

export async function readSqliteSchema(source: ByteSource): Promise<SchemaRow[]> {
  const layout = await readLayout(source);
  const rows: SchemaRow[] = [];
  const visited = new Set<number>();
  const waiting = [1];
  let length = 0;
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    if (visited.has(page) || visited.size >= mostPages) throw damaged("its schema has no end");
    visited.add(page);
    const bytes = await readPage(source, layout, page);
    const start = page === 1 ? headerBytes : 0;
    const kind = bytes.getUint8(start);
    if (kind !== leaf && kind !== interior) throw damaged(`page ${page} is no part of a table`);
    const count = bytes.getUint16(start + 3);
    const cells = start + (kind === leaf ? 8 : 12);
    if (cells + 2 * count > layout.pageBytes) throw damaged(`page ${page} is too full`);
    for (let index = 0; index < count; index++) {
      const cell = bytes.getUint16(cells + 2 * index);
      if (kind === interior) waiting.push(readUint32(bytes, cell));
      else {
        if (rows.length >= mostRows) throw damaged("its schema is too long");
        const row = readRow(await readRecord(source, layout, bytes, cell), layout);
        length += row?.sql.length ?? 0;
        if (length > longestSchema) throw damaged("its schema is too long");
        if (row !== undefined) rows.push(row);
      }
    }
    if (kind === interior) waiting.push(bytes.getUint32(start + 8));
  }
  return rows;
}

async function readLayout(source: ByteSource): Promise<Layout> {
  const header = viewOf(await source.read(0, headerBytes));
  if (header.byteLength < headerBytes) throw damaged("it is shorter than its header");
  const size = header.getUint16(16);
  const pageBytes = size === 1 ? 65_536 : size;
  const isPower = pageBytes >= 512 && (pageBytes & (pageBytes - 1)) === 0;
  const usable = pageBytes - header.getUint8(20);
  if (!isPower || usable < 480) throw damaged("its pages have no valid size");
  const encodings = ["utf-8", "utf-8", "utf-16le", "utf-16be"];
  const encoding = encodings[header.getUint32(56)];
  if (encoding === undefined) throw damaged("its text has no known encoding");
  const decoder = new TextDecoder(encoding);
  return { pageBytes, usable, decode: (bytes) => decoder.decode(bytes) };
}

async function readPage(source: ByteSource, { pageBytes }: Layout, page: number) {
  const bytes = page < 1 ? new Uint8Array() : await source.read((page - 1) * pageBytes, pageBytes);
  if (bytes.length < pageBytes) throw damaged(`page ${page} is missing`);
  return viewOf(bytes);
}

/** The bytes of a record, with those on its overflow pages. */
async function readRecord(
  source: ByteSource,
  layout: Layout,
  page: DataView,
  cell: number,
): Promise<DataView> {
  const { usable } = layout;
  const length = readVarint(page, cell);
  const rowid = readVarint(page, length.next);
  const total = length.value;
  if (total > longestRecord) throw damaged("a statement of its schema is too long");
  const most = usable - 35;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const fitting = least + ((total - least) % (usable - 4));
  const local = total <= most ? total : fitting <= most ? fitting : least;
  const record = new Uint8Array(total);
  record.set(slice(page, rowid.next, local));
  let filled = local;
  let next = local < total ? readUint32(page, rowid.next + local) : 0;
  while (filled < total) {
    const overflow = await readPage(source, layout, next);
    const part = Math.min(usable - 4, total - filled);
    record.set(slice(overflow, 4, part), filled);
    filled += part;
    next = overflow.getUint32(0);
  }
  return viewOf(record);
}

/** Undefined: a row without SQL, such as an index that belongs to a constraint. */
function readRow(record: DataView, { decode }: Layout): SchemaRow | undefined {
  const header = readVarint(record, 0);
  let at = header.next;
  let value = header.value;
  const columns: string[] = [];
  while (at < header.value && columns.length < 5) {
    const serial = readVarint(record, at);
    at = serial.next;
    const bytes = bytesOf(serial.value);
    const isText = serial.value >= 13 && serial.value % 2 === 1;
    const content = slice(record, value, bytes);
    // A blob is decoded too: SQLite takes it for text.
    columns.push(isText || serial.value >= 12 ? decode(content) : "");
    value += bytes;
  }
  const [, name = "", , , sql = ""] = columns;
  return sql === "" ? undefined : { name, sql };
}

const fixedBytes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

function bytesOf(serial: number): number {
  return serial >= 12 ? Math.floor((serial - 12) / 2) : (fixedBytes[serial] ?? 0);
}

function readVarint(view: DataView, at: number): { value: number; next: number } {
  let value = 0;
  for (let index = 0; index < 9; index++) {
    if (at + index >= view.byteLength) throw damaged("a number is cut off");
    const byte = view.getUint8(at + index);
    if (index === 8) return { value: value * 256 + byte, next: at + 9 };
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, next: at + index + 1 };
  }
  throw damaged("a number is cut off");
}

function readUint32(view: DataView, at: number): number {
  if (at + 4 > view.byteLength) throw damaged("a page ends too early");
  return view.getUint32(at);
}

function slice(view: DataView, at: number, length: number): Uint8Array {
  if (at + length > view.byteLength) throw damaged("a record is cut off");
  return new Uint8Array(view.buffer, view.byteOffset + at, length);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function damaged(why: string): SqliteError {
  return new SqliteError(`The database is damaged: ${why}.`);
}
