/** Writes GeoParquet byte by byte, so that a file can say what no honest program would. */

type Field = readonly [id: number, type: number, bytes: Buffer];

/** Types of Thrift's compact protocol. */
const [int32, int64, binary, list, struct] = [5, 6, 8, 9, 12] as const;

interface ParquetSpec {
  /** So many rows without a geometry, which take no more bytes than one. */
  readonly rows: number;
  /** The file in which the column is, as the index of a folder of files says it. */
  readonly columnFile?: string;
}

export function writeParquet({ rows, columnFile }: ParquetSpec): Buffer {
  const levels = Buffer.concat([varint(BigInt(rows) * 2n), Buffer.from([0])]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(levels.length);
  const data = Buffer.concat([length, levels]);
  const page = Buffer.concat([
    record([
      [1, int32, number(0)],
      [2, int32, number(data.length)],
      [3, int32, number(data.length)],
      [5, struct, record([1, 2, 3, 4].map((id) => [id, int32, number([rows, 0, 3, 3][id - 1]!)]))],
    ]),
    data,
  ]);
  const start = Buffer.from("PAR1");
  const footer = describe(rows, { at: start.length, bytes: page.length, columnFile });
  const footerLength = Buffer.alloc(4);
  footerLength.writeUInt32LE(footer.length);
  return Buffer.concat([start, page, footer, footerLength, start]);
}

function describe(
  rows: number,
  page: { readonly at: number; readonly bytes: number; readonly columnFile: string | undefined },
): Buffer {
  const columnFacts = record([
    [1, int32, number(6)],
    [2, list, items(int32, [number(0), number(3)])],
    [3, list, items(binary, [text("geometry")])],
    [4, int32, number(0)],
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
    [2, int64, number(page.bytes)],
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
  return varint(BigInt(value) * 2n);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}
