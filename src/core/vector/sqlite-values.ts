/**
 * SQLite stores any value in any column, and GDAL reads each by the column's declared type: of a text
 * in a column of integers it makes 0, of 18446744073709551615 it makes -1, of 4294967297 in a
 * MEDIUMINT 1, and of a real number it writes 15 digits. The queries here find such columns of a
 * GeoPackage, and read them so that every value is kept.
 */
import type { GeoColumn } from "./geo-table.ts";
import type { LayerFacts } from "./read-ogrinfo.ts";

/** What the values of a column are, beside values that GDAL reads as they are. */
const flags = { beyondDouble: 1, beyond32: 2, real: 4, other: 8, long: 16 } as const;

const isInteger = /^Integer(?:64)?(?:\(|$)/;
const isReal = /^Real(?:\(|$)/;
const isTime = /^Date(?:Time)?$/;

type Layer = Pick<LayerFacts, "name" | "fields" | "types" | "fidColumn" | "geometryColumn">;

/** One row with a sum of flags for each column that needs a look. Undefined: none does. */
export function valuesQuery({ name, fields, types }: Layer): string | undefined {
  const columns = fields.flatMap((field, index) => {
    const sum = flagsOf(quote(field), types[index] ?? "");
    return sum === undefined ? [] : [`${sum} AS "c${index}"`];
  });
  return columns.length === 0 ? undefined : `SELECT ${columns.join(", ")} FROM ${quote(name)}`;
}

function flagsOf(column: string, type: string): string | undefined {
  const flag = (value: number, condition: string) => `${value} * max(${condition})`;
  const is = (...kinds: string[]) =>
    `typeof(${column}) IN (${kinds.map((kind) => `'${kind}'`).join(", ")})`;
  if (isInteger.test(type)) {
    const range = type.includes("Boolean") ? "0 AND 1" : "-2147483648 AND 2147483647";
    const narrow = type.startsWith("Integer64") ? "0" : `${column} NOT BETWEEN ${range}`;
    return [
      flag(
        flags.beyondDouble,
        `${is("integer")} AND ${column} NOT BETWEEN -9007199254740992 AND 9007199254740992`,
      ),
      flag(flags.beyond32, `${is("integer")} AND ${narrow}`),
      flag(flags.real, is("real")),
      flag(flags.other, is("text", "blob")),
    ].join(" + ");
  }
  // Read with all their digits in any case; looking for long ones takes as long as writing them.
  if (type === guessedType) return flag(flags.other, is("text", "blob"));
  if (isReal.test(type)) {
    const digits = type.includes("Float32") ? 8 : 15;
    return [
      flag(flags.other, is("text", "blob")),
      flag(flags.long, `CAST(printf('%.${digits}g', ${column}) AS REAL) <> ${column}`),
    ].join(" + ");
  }
  if (!isTime.test(type)) return undefined;
  const day = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*";
  return flag(flags.other, `${column} IS NOT NULL AND ${column} NOT GLOB '${day}'`);
}

export interface LooseColumn {
  readonly name: string;
  readonly type: GeoColumn["type"];
  /** True: the file declares another type than its values have. */
  readonly isMisdeclared: boolean;
}

/** The columns that GDAL would read wrongly, from what `ogrinfo` answers to `valuesQuery`. */
export function readLooseColumns(stdout: string, { fields }: Layer): LooseColumn[] {
  return [...stdout.matchAll(/^\s*c(\d+) \(\w+\) = (\d+)$/gm)].flatMap((line) => {
    const index = Number(line[1]);
    const [name, found] = [fields[index], Number(line[2])];
    const type = name === undefined ? undefined : typeOf(found);
    if (name === undefined || type === undefined) return [];
    return [{ name, type, isMisdeclared: found !== flags.long }];
  });
}

const guessedType = "Real";

/**
 * The columns that are read with all their digits, whether or not one of their values has more than GDAL writes: a
 * shorter value with more digits is the same number. Those of `Real(Float32)` are looked at: GDAL writes 8 digits.
 */
export function guessLooseColumns({ fields, types }: Layer): LooseColumn[] {
  return fields
    .filter((_, index) => types[index] === guessedType)
    .map((name) => ({ name, type: "double precision", isMisdeclared: false }));
}

/** The guess, corrected by what was found. */
export function correctGuess(
  guessed: readonly LooseColumn[],
  found: readonly LooseColumn[],
): LooseColumn[] {
  const names = new Set(found.map(({ name }) => name));
  return [...guessed.filter(({ name }) => !names.has(name)), ...found];
}

function typeOf(found: number): GeoColumn["type"] | undefined {
  const has = (flag: number) => (found & flag) !== 0;
  if (has(flags.other)) return "text";
  if (has(flags.long)) return "double precision";
  if (has(flags.real)) return has(flags.beyondDouble) ? "text" : "double precision";
  return has(flags.beyond32) ? "bigint" : undefined;
}

/** Reads these columns as text with all their digits, and the others as GDAL does. */
export function exactQuery(
  { name, fields, fidColumn, geometryColumn }: Layer,
  loose: readonly LooseColumn[],
): string {
  const isLoose = new Set(loose.map((column) => column.name));
  const own = [fidColumn, geometryColumn].flatMap((column) =>
    column === undefined || column === "" ? [] : [quote(column)],
  );
  const columns = fields.map((field) => {
    const column = quote(field);
    if (!isLoose.has(field)) return column;
    return `CASE typeof(${column}) WHEN 'real' THEN printf('%!.17g', ${column}) WHEN 'blob' THEN hex(${column}) ELSE CAST(${column} AS TEXT) END AS ${column}`;
  });
  return `SELECT ${[...own, ...columns].join(", ")} FROM ${quote(name)}`;
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
