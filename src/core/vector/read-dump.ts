/** Reads the heading that GDAL's driver PGDUMP writes: tables, columns and rows for COPY. */
import type { GeoColumn } from "./geo-table.ts";

export interface DumpColumn {
  readonly name: string;
  readonly type: GeoColumn["type"];
}

const types: ReadonlyMap<string, GeoColumn["type"]> = new Map([
  ["varchar", "text"],
  ["text", "text"],
  ["char", "text"],
  ["integer", "integer"],
  ["smallint", "integer"],
  ["boolean", "boolean"],
  ["int8", "bigint"],
  ["bigint", "bigint"],
  ["numeric", "double precision"],
  ["float8", "double precision"],
  ["real", "double precision"],
  ["double precision", "double precision"],
  ["date", "date"],
  ["time", "time"],
  ["timestamp with time zone", "timestamptz"],
  ["timestamp", "timestamptz"],
  ["json", "jsonb"],
  ["jsonb", "jsonb"],
  ["bytea", "bytea"],
  ["varchar[]", "text[]"],
  ["integer[]", "integer[]"],
  ["int8[]", "bigint[]"],
  ["float8[]", "double precision[]"],
]);

/** Reads `ALTER TABLE "public"."x" ADD COLUMN "name" VARCHAR(254);`. */
export function readColumn(line: string): DumpColumn | undefined {
  const match = /^ALTER TABLE .* ADD COLUMN "((?:[^"]|"")*)" ([^;]+);/.exec(line);
  if (match === null) return undefined;
  const [, name = "", declared = ""] = match;
  return { name: unquote(name), type: columnType(declared) };
}

/** Reads `COPY "public"."x" ("geom", "ogc_fid", "name") FROM STDIN;`. */
export function readCopy(line: string): string[] | undefined {
  const [begin, end] = [line.indexOf(" ("), line.lastIndexOf(") FROM STDIN;")];
  if (!line.startsWith("COPY ") || begin < 0 || end < begin) return undefined;
  const list = line.slice(begin + 2, end);
  return [...list.matchAll(/"((?:[^"]|"")*)"/g)].map((match) => unquote(match[1] ?? ""));
}

function columnType(declared: string): GeoColumn["type"] {
  const plain = declared
    .replace(/\s+(?:NOT NULL|DEFAULT|UNIQUE)\b.*$/is, "")
    .replaceAll(/\([^)]*\)/g, "")
    .trim()
    .toLowerCase();
  return types.get(plain) ?? "text";
}

function unquote(name: string): string {
  return name.replaceAll('""', '"');
}

/**
 * GDAL writes a backslash before a line break or tab of a value, and then the character itself, which
 * COPY accepts. Here it becomes a letter: `\\n`, `\\t`, so that a row is one line and its values are
 * separated by tabs.
 */
export function spellEscapes(row: string): string {
  return row.replaceAll(/\\([\s\S])/g, (both, character: string) => letters.get(character) ?? both);
}

const letters: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\t", "\\t"],
  ["\r", "\\r"],
]);
