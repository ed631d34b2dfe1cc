/** Rows that GDAL wrote with PGDUMP: its number of the feature, the geometry, and the rest as it is. */
import type { DumpColumn } from "../../../core/vector/read-dump.ts";
import { readColumn, readCopy } from "../../../core/vector/read-dump.ts";
import { readLines } from "./read-lines.ts";

export const dumpNames = { geometry: "rmhdag_geom", fid: "rmhdag_fid" } as const;

/** How PGDUMP has to be asked, so that it is read here. */
export const dumpOptions: readonly string[] = [
  ...["-f", "PGDUMP", "-preserve_fid", "-nln", "layer"],
  ...["-lco", "LAUNDER=NO", "-lco", "PRECISION=NO", "-lco", "SPATIAL_INDEX=NONE"],
  ...["-lco", `GEOMETRY_NAME=${dumpNames.geometry}`, "-lco", `FID=${dumpNames.fid}`],
  ...["-lco", "DROP_TABLE=OFF", "-lco", "CREATE_SCHEMA=OFF", "-lco", "GEOM_TYPE=geometry"],
  ...["--config", "PG_USE_COPY", "YES"],
];

export interface DumpRow {
  readonly fid: number;
  readonly geometry: Uint8Array | undefined;
  /** The attributes in COPY's text format, separated by tabs. */
  readonly attributes: Buffer;
}

const tab = 9;
const nothing = Buffer.alloc(0);

/** Hands over the columns once, before the first row. */
export async function* openDump(
  file: string,
  signal: AbortSignal,
  onColumns: (columns: readonly DumpColumn[]) => void = () => undefined,
): AsyncGenerator<DumpRow[]> {
  const declared = new Map<string, DumpColumn>();
  let isGeometryFirst: boolean | undefined;
  for await (const lines of readLines(file, signal)) {
    const rows: DumpRow[] = [];
    for (const line of lines) {
      if (isGeometryFirst !== undefined) {
        if (line.length === 2 && line.toString("latin1") === "\\.") isGeometryFirst = undefined;
        else rows.push(readRow(line, isGeometryFirst));
        continue;
      }
      const text = line.toString("utf8");
      const column = readColumn(text);
      if (column !== undefined) declared.set(column.name, column);
      const names = readCopy(text);
      if (names === undefined) continue;
      const own = names.slice(0, 2);
      isGeometryFirst = own[0] === dumpNames.geometry;
      if (!own.includes(dumpNames.geometry) || !own.includes(dumpNames.fid)) {
        throw new Error(`GDAL wrote other columns than it was asked for: ${names.join(", ")}`);
      }
      onColumns(names.slice(2).map((name) => declared.get(name) ?? { name, type: "text" }));
    }
    if (rows.length > 0) yield rows;
  }
}

function readRow(line: Buffer, isGeometryFirst: boolean): DumpRow {
  const first = line.indexOf(tab);
  const second = line.indexOf(tab, first + 1);
  const end = second < 0 ? line.length : second;
  const one = line.toString("latin1", 0, first);
  const two = line.toString("latin1", first + 1, end);
  const [hex, fid] = isGeometryFirst ? [one, two] : [two, one];
  return {
    fid: Number(fid),
    geometry: hex === "\\N" ? undefined : Buffer.from(hex, "hex"),
    attributes: second < 0 ? nothing : line.subarray(second + 1),
  };
}
