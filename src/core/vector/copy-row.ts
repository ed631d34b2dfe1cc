/**
 * Rows as PostgreSQL's COPY reads them (text format): the chunk files hold exactly what the table
 * takes, so that loading one is nothing but sending it.
 */
import { boundsOf } from "./bounds.ts";
import type { GeometryForm } from "./geo-table.ts";
import { srid } from "./geo-table.ts";
import type { Kind, Parts } from "./parts.ts";
import { writeWkb } from "./write-wkb.ts";

/** The geometry's column or columns, without the attributes. */
export function geometryFields(
  form: GeometryForm,
  kind: Kind,
  parts: Parts,
  toHex: (bytes: Uint8Array) => string,
): string {
  if (form === "postgis") return toHex(writeWkb(kind, parts, srid));
  const [west, south, east, north] = boundsOf(parts) ?? [0, 0, 0, 0];
  // One backslash is COPY's, the other bytea's.
  return `\\\\x${toHex(writeWkb(kind, parts))}\t(${east},${north}),(${west},${south})`;
}
