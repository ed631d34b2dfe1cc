import type { Bounds, Kind, Line, Parts, Polygon } from "./parts.ts";
import { boundsOf } from "./parts.ts";
import type { GeometryForm } from "./geo-table.ts";
import { srid } from "./geo-table.ts";

const codes = { point: [1, 4], line: [2, 5], polygon: [3, 6] } as const;
const hasSrid = 0x20000000;

/**
 * Writes the parts of one kind as a multi geometry, little-endian. With `srid` it is PostGIS's
 * EWKB: a column with a reference system refuses a geometry without one.
 */
export function writeWkb(kind: Kind, parts: Parts, srid?: number): Uint8Array {
  const members = membersOf(kind, parts);
  const size = members.reduce((sum, member) => sum + sizeOf(kind, member), 0);
  const bytes = new Uint8Array(9 + (srid === undefined ? 0 : 4) + size);
  const view = new DataView(bytes.buffer);
  const [single, multi] = codes[kind];
  let offset = 0;
  const byteOrder = () => {
    view.setUint8(offset, 1);
    offset += 1;
  };
  const uint32 = (value: number) => {
    view.setUint32(offset, value, true);
    offset += 4;
  };
  const line = (positions: Line) => {
    for (const value of positions) {
      view.setFloat64(offset, value, true);
      offset += 8;
    }
  };
  byteOrder();
  if (srid === undefined) uint32(multi);
  else {
    uint32(multi | hasSrid);
    uint32(srid);
  }
  uint32(members.length);
  for (const member of members) {
    byteOrder();
    uint32(single);
    if (kind === "polygon") uint32(member.length);
    for (const part of member) {
      if (kind !== "point") uint32(part.length / 2);
      line(part);
    }
  }
  return bytes;
}

function membersOf(kind: Kind, { points, lines, polygons }: Parts): readonly Polygon[] {
  if (kind === "polygon") return polygons;
  if (kind === "line") return lines.map((line) => [line]);
  const members: Polygon[] = [];
  for (let index = 0; index < points.length; index += 2) {
    members.push([points.subarray(index, index + 2)]);
  }
  return members;
}

function sizeOf(kind: Kind, member: Polygon): number {
  const header = kind === "polygon" ? 9 : 5;
  const counts = kind === "point" ? 0 : 4 * member.length;
  return header + counts + member.reduce((sum, part) => sum + 8 * part.length, 0);
}

/**
 * The geometry's column or columns of a row, without the attributes, in the text format of
 * PostgreSQL's COPY: the chunk files hold exactly what the table takes, so loading one only sends
 * it.
 */
export function geometryFields(
  form: GeometryForm,
  kind: Kind,
  parts: Parts,
  toHex: (bytes: Uint8Array) => string,
): string {
  if (form === "postgis") return toHex(writeWkb(kind, parts, srid));
  return `${byteaPrefix}${toHex(writeWkb(kind, parts))}\t${boundsField(boundsOf(parts) ?? [0, 0, 0, 0])}`;
}

/** One backslash is COPY's escape, the other starts bytea's hex format. */
const byteaPrefix = "\\\\x";

export function boundsField([west, south, east, north]: Bounds): string {
  return `(${east},${north}),(${west},${south})`;
}

/** The beginning of `geometryFields`, up to the only member of the geometry. */
export function multiHeader(form: GeometryForm, kind: Kind): string {
  return headers[form][kind];
}

const headers = {
  postgis: makeHeaders("", srid),
  wkb: makeHeaders(byteaPrefix, undefined),
} as const satisfies Record<GeometryForm, unknown>;

function makeHeaders(prefix: string, system: number | undefined): Readonly<Record<Kind, string>> {
  const uint32 = (value: number) =>
    [0, 8, 16, 24].map((shift) => ((value >>> shift) & 255).toString(16).padStart(2, "0")).join("");
  const header = (kind: Kind) => {
    const multi = codes[kind][1];
    const type =
      system === undefined ? uint32(multi) : uint32((multi | hasSrid) >>> 0) + uint32(system);
    return `${prefix}01${type}${uint32(1)}`;
  };
  return { point: header("point"), line: header("line"), polygon: header("polygon") };
}
