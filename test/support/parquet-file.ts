/** Writes GeoParquet byte by byte, so that a file can say what no honest program would. */

type Field = readonly [id: number, type: number, bytes: Buffer];

/** Types of Thrift's compact protocol. */
const [int32, int64, binary, list, struct] = [5, 6, 8, 9, 12] as const;

interface ParquetSpec {
  /** So many rows without a geometry, which take no more bytes than one. */
  readonly rows: number;
  /** The file in which the column is, as the index of a folder of files says it. */
  readonly columnFile?: string;
  /** How the page is packed; it is not unless this says so. */
  readonly pack?: (page: Buffer) => { readonly codec: Codec; readonly bytes: Buffer };
  /** Sizes that are not those of the file. */
  readonly claims?: Claims;
}

interface Claims {
  readonly page?: number;
  readonly packedPage?: number;
  readonly values?: number;
  readonly column?: number;
  readonly group?: number;
  readonly offset?: number;
}

/** As Parquet numbers them. */
export const codecs = { none: 0, snappy: 1, zstd: 6 } as const;
type Codec = (typeof codecs)[keyof typeof codecs];

export function writeParquet({ rows, columnFile, pack, claims = {} }: ParquetSpec): Buffer {
  const levels = Buffer.concat([varint(BigInt(rows) * 2n), Buffer.from([0])]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(levels.length);
  const data = Buffer.concat([length, levels]);
  const { codec, bytes } = pack?.(data) ?? { codec: codecs.none, bytes: data };
  const values = [claims.values ?? rows, 0, 3, 3];
  const page = Buffer.concat([
    record([
      [1, int32, number(0)],
      [2, int32, number(claims.page ?? data.length)],
      [3, int32, number(claims.packedPage ?? bytes.length)],
      [5, struct, record(values.map((value, index) => [index + 1, int32, number(value)]))],
    ]),
    bytes,
  ]);
  const start = Buffer.from("PAR1");
  const footer = describe(rows, {
    at: claims.offset ?? start.length,
    bytes: claims.column ?? page.length,
    group: claims.group ?? page.length,
    codec,
    columnFile,
  });
  const footerLength = Buffer.alloc(4);
  footerLength.writeUInt32LE(footer.length);
  return Buffer.concat([start, page, footer, footerLength, start]);
}

function describe(
  rows: number,
  page: {
    readonly at: number;
    readonly bytes: number;
    readonly group: number;
    readonly codec: Codec;
    readonly columnFile: string | undefined;
  },
): Buffer {
  const columnFacts = record([
    [1, int32, number(6)],
    [2, list, items(int32, [number(0), number(3)])],
    [3, list, items(binary, [text("geometry")])],
    [4, int32, number(page.codec)],
    [5, int64, number(rows)],
    [6, int64, number(page.bytes)],
    [7, int64, number(page.bytes)],
    [9, int64, number(page.at)],
  ]);
  const column = record([
    ...(page.columnFile === undefined ? [] : [[1, binary, text(page.columnFile)] as const]),
    [2, int64, number(page.at)],
    [3, struct, columnFacts],
  ]);
  const group = record([
    [1, list, items(struct, [column])],
    [2, int64, number(page.group)],
    [3, int64, number(rows)],
  ]);
  const root = record([
    [4, binary, text("schema")],
    [5, int32, number(1)],
  ]);
  const geometry = record([
    [1, int32, number(6)],
    [3, int32, number(1)],
    [4, binary, text("geometry")],
  ]);
  const geo = { version: "1.1.0", primary_column: "geometry" };
  const columns = { geometry: { encoding: "WKB", geometry_types: [] } };
  const entry = record([
    [1, binary, text("geo")],
    [2, binary, text(JSON.stringify({ ...geo, columns }))],
  ]);
  return record([
    [1, int32, number(2)],
    [2, list, items(struct, [root, geometry])],
    [3, int64, number(rows)],
    [4, list, items(struct, [group])],
    [5, list, items(struct, [entry])],
  ]);
}

function record(fields: readonly Field[]): Buffer {
  let last = 0;
  const parts = fields.map(([id, type, bytes]) => {
    const head = Buffer.from([((id - last) << 4) | type]);
    last = id;
    return Buffer.concat([head, bytes]);
  });
  return Buffer.concat([...parts, Buffer.from([0])]);
}

function items(type: number, values: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([(values.length << 4) | type]), ...values]);
}

function text(value: string): Buffer {
  return Buffer.concat([varint(BigInt(Buffer.byteLength(value))), Buffer.from(value)]);
}

/** Thrift writes small negative numbers in few bytes, so it doubles the positive ones. */
function number(value: number): Buffer {
  return varint(value < 0 ? BigInt(-value) * 2n - 1n : BigInt(value) * 2n);
}

/** A page that unpacks to `size` bytes: its own, and then zeros, 128 KiB of them in four bytes. */
export function packAsZstd(page: Buffer, size: number): { codec: Codec; bytes: Buffer } {
  const [raw, repeated] = [0, 1];
  const block = (kind: number, length: number, isLast: boolean, content: Buffer) => {
    const head = Buffer.alloc(3);
    head.writeUIntLE((length << 3) | (kind << 1) | (isLast ? 1 : 0), 0, 3);
    return Buffer.concat([head, content]);
  };
  const blocks: Buffer[] = [block(raw, page.length, size === page.length, page)];
  for (let rest = size - page.length; rest > 0;) {
    const length = Math.min(rest, 128 * 1024);
    rest -= length;
    blocks.push(block(repeated, length, rest === 0, Buffer.from([0])));
  }
  // The magic number, no size of the content, and a window of 128 KiB.
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x38]);
  return { codec: codecs.zstd, bytes: Buffer.concat([head, ...blocks]) };
}

/** The same for Snappy, which repeats 64 bytes in three. */
export function packAsSnappy(page: Buffer, size: number): { codec: Codec; bytes: Buffer } {
  const literal = Buffer.concat([Buffer.from([(page.length - 1) << 2]), page]);
  const zero = Buffer.from([0, 0]);
  const copy = (length: number) => Buffer.from([((length - 1) << 2) | 2, 1, 0]);
  const copies: Buffer[] = [];
  for (let rest = size - page.length - 1; rest > 0; rest -= 64)
    copies.push(copy(Math.min(rest, 64)));
  const bytes = Buffer.concat([varint(BigInt(size)), literal, zero, ...copies]);
  return { codec: codecs.snappy, bytes };
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}
