/**
 * Reads the rows of GDAL's PGDUMP format: feature number, geometry, and the attributes undecoded.
 */
import { readColumn, readCopy, spellEscapes } from "../../../core/vector/read-dump.ts";
import type { DumpColumn } from "../../../core/vector/read-dump.ts";
import { readLines } from "./read-lines.ts";
import type { GrowingFile } from "./read-lines.ts";

export const dumpNames = { geometry: "rmhdag_geom", fid: "rmhdag_fid" } as const;

const layerOptions = [
  "LAUNDER=NO",
  "PRECISION=NO",
  "SPATIAL_INDEX=NONE",
  `GEOMETRY_NAME=${dumpNames.geometry}`,
  `FID=${dumpNames.fid}`,
  "DROP_TABLE=OFF",
  "CREATE_SCHEMA=OFF",
  "GEOM_TYPE=geometry",
].flatMap((option) => ["-lco", option]);

/** Arguments of ogr2ogr for a dump that `openDump` can read. */
export const dumpOptions: readonly string[] = [
  "-f",
  "PGDUMP",
  "-preserve_fid",
  // GDAL would cut a text at the length that its column declares.
  "-unsetFieldWidth",
  "-nln",
  "layer",
  ...layerOptions,
  "--config",
  "PG_USE_COPY",
  "YES",
];

export interface DumpRow {
  readonly fid: number;
  readonly geometry: Buffer | undefined;
  /** The attributes in COPY's text format on one line, separated by tabs. */
  readonly attributes: Buffer;
}

const tab = 9;
const backslash = 0x5c;
const nothing = Buffer.alloc(0);

/** Yields the rows in batches. `onColumns` is called once, before the first row. */
export async function* openDump(
  file: GrowingFile,
  signal: AbortSignal,
  onColumns: (columns: readonly DumpColumn[]) => void = () => undefined,
): AsyncGenerator<DumpRow[]> {
  const declared = new Map<string, DumpColumn>();
  let isGeometryFirst: boolean | undefined;
  for await (const lines of readLines(file, signal, { hasEscapes: true })) {
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
        throw new Error(`The dump has unexpected columns: ${names.join(", ")}`);
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
    attributes: second < 0 ? nothing : spell(line.subarray(second + 1)),
  };
}

function spell(attributes: Buffer): Buffer {
  if (!attributes.includes(backslash)) return attributes;
  return Buffer.from(spellEscapes(attributes.toString("latin1")), "latin1");
}
