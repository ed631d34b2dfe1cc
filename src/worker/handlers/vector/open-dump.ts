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

/** A row of a dump. Its values are decoded when they are read. */
export class DumpRow {
  readonly line: Buffer;
  /** The hexadecimal digits of the geometry lie between these. */
  readonly hexStart: number;
  readonly hexEnd: number;
  /** Where the attributes begin; after the end of the line if there are none. */
  readonly restStart: number;
  private readonly fidStart: number;
  private readonly fidEnd: number;

  constructor(line: Buffer, isGeometryFirst: boolean) {
    const first = line.indexOf(tab);
    const second = line.indexOf(tab, first + 1);
    const end = second < 0 ? line.length : second;
    this.line = line;
    this.hexStart = isGeometryFirst ? 0 : first + 1;
    this.hexEnd = isGeometryFirst ? first : end;
    this.fidStart = isGeometryFirst ? first + 1 : 0;
    this.fidEnd = isGeometryFirst ? end : first;
    this.restStart = end + 1;
  }

  get fid(): number {
    return Number(this.line.toString("latin1", this.fidStart, this.fidEnd));
  }

  get geometry(): Buffer | undefined {
    const hex = this.line.toString("latin1", this.hexStart, this.hexEnd);
    return hex === "\\N" ? undefined : Buffer.from(hex, "hex");
  }

  /** The attributes in COPY's text format on one line, separated by tabs. */
  get attributes(): Buffer {
    const rest = this.line.subarray(Math.min(this.restStart, this.line.length));
    return this.hasSpelledEscapes() ? rest : spell(rest);
  }

  /** Whether the attributes are as COPY needs them on one line: see `spellEscapes`. */
  hasSpelledEscapes(): boolean {
    const { line } = this;
    let place = line.indexOf(backslash, this.restStart);
    while (place >= 0) {
      const next = line[place + 1];
      if (next === tab || next === newline || next === carriageReturn) return false;
      place = line.indexOf(backslash, place + 2);
    }
    return true;
  }
}

const tab = 9;
const newline = 10;
const carriageReturn = 13;
const backslash = 0x5c;

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
        else rows.push(new DumpRow(line, isGeometryFirst));
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

function spell(attributes: Buffer): Buffer {
  return Buffer.from(spellEscapes(attributes.toString("latin1")), "latin1");
}
