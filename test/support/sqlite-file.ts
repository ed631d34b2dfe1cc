/**
 * Writes small SQLite databases byte by byte, as an attacker would: a program that writes them would
 * not let their schema say what it likes.
 */
export type SqliteValue = number | string | Uint8Array | null;

export interface SqliteTable {
  readonly type?: "table" | "view" | "trigger" | "index";
  readonly name: string;
  readonly sql: string;
  /** A table with rows has a page of its own; virtual tables and views have none. */
  readonly rows?: readonly (readonly SqliteValue[])[];
}

const pageBytes = 32_768;

export function writeSqlite(tables: readonly SqliteTable[], applicationId = "GPKG"): Buffer {
  const stored = tables.filter(({ rows }) => rows !== undefined);
  const schema = tables.map((table): SqliteValue[] => [
    table.type ?? "table",
    table.name,
    table.name,
    table.rows === undefined ? 0 : stored.indexOf(table) + 2,
    table.sql,
  ]);
  const pages = [writePage(schema, 100), ...stored.map(({ rows = [] }) => writePage(rows, 0))];
  const [first] = pages;
  if (first === undefined) throw new Error("a database has a first page");
  first.write("SQLite format 3\0", 0, "latin1");
  first.writeUInt16BE(pageBytes, 16);
  first.set([1, 1, 0, 64, 32, 32], 18);
  first.writeUInt32BE(1, 24);
  first.writeUInt32BE(pages.length, 28);
  first.writeUInt32BE(1, 40);
  first.writeUInt32BE(4, 44);
  first.writeUInt32BE(1, 56);
  first.writeUInt32BE(10_300, 60);
  first.write(applicationId, 68, "latin1");
  first.writeUInt32BE(1, 92);
  first.writeUInt32BE(3_040_001, 96);
  return Buffer.concat(pages);
}

/** A leaf page of a table: cell pointers from the front, cells from the back. */
function writePage(rows: readonly (readonly SqliteValue[])[], start: number): Buffer {
  const page = Buffer.alloc(pageBytes);
  let end = pageBytes;
  rows.forEach((values, index) => {
    const record = writeRecord(values);
    const cell = Buffer.concat([varint(record.length), varint(index + 1), record]);
    end -= cell.length;
    cell.copy(page, end);
    page.writeUInt16BE(end, start + 8 + 2 * index);
  });
  page[start] = 0x0d;
  page.writeUInt16BE(rows.length, start + 3);
  page.writeUInt16BE(end, start + 5);
  return page;
}

function writeRecord(values: readonly SqliteValue[]): Buffer {
  const columns = values.map((value): { serial: number; bytes: Buffer } => {
    if (value === null) return { serial: 0, bytes: Buffer.alloc(0) };
    if (typeof value === "string") {
      const bytes = Buffer.from(value);
      return { serial: 13 + 2 * bytes.length, bytes };
    }
    if (typeof value !== "number") {
      return { serial: 12 + 2 * value.length, bytes: Buffer.from(value) };
    }
    const bytes = Buffer.alloc(8);
    if (Number.isInteger(value)) {
      bytes.writeBigInt64BE(BigInt(value));
      return { serial: 6, bytes };
    }
    bytes.writeDoubleBE(value);
    return { serial: 7, bytes };
  });
  const serials = Buffer.concat(columns.map(({ serial }) => varint(serial)));
  const header = varint(serials.length + 1);
  return Buffer.concat([header, serials, ...columns.map(({ bytes }) => bytes)]);
}

/** Numbers below two million: at most three bytes. */
function varint(value: number): Buffer {
  if (value < 128) return Buffer.from([value]);
  if (value < 16_384) return Buffer.from([(value >> 7) | 0x80, value & 0x7f]);
  return Buffer.from([(value >> 14) | 0x80, ((value >> 7) & 0x7f) | 0x80, value & 0x7f]);
}

const wgs84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]';

/** A point in the encoding of GeoPackage. */
export function geoPackagePoint(x: number, y: number): Buffer {
  const bytes = Buffer.alloc(29);
  bytes.write("GP", 0, "latin1");
  bytes.set([0, 1], 2);
  bytes.writeInt32LE(4326, 4);
  bytes[8] = 1;
  bytes.writeUInt32LE(1, 9);
  bytes.writeDoubleLE(x, 13);
  bytes.writeDoubleLE(y, 21);
  return bytes;
}

/** A GeoPackage with one registered layer of points, which `tables` define. */
export function writeGeoPackage(layer: string, tables: readonly SqliteTable[]): Buffer {
  return writeSqlite([
    {
      name: "gpkg_spatial_ref_sys",
      sql: "CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL, organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT)",
      rows: [["WGS 84", 4326, "EPSG", 4326, wgs84, null]],
    },
    {
      name: "gpkg_contents",
      sql: "CREATE TABLE gpkg_contents (table_name TEXT NOT NULL, data_type TEXT NOT NULL, identifier TEXT, description TEXT DEFAULT '', last_change DATETIME, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER)",
      rows: [[layer, "features", layer, "", "2024-01-01T00:00:00.000Z", 0, 0, 1, 1, 4326]],
    },
    {
      name: "gpkg_geometry_columns",
      sql: "CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL)",
      rows: [[layer, "geom", "POINT", 4326, 0, 0]],
    },
    ...tables,
  ]);
}
