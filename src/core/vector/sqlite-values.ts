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

/**
 * One row with a sum of flags for each column that needs a look, without sums if no value has a flag.
 * Undefined: no column needs a look. The condition passes every row with a flag: SQLite decides it in a
 * third of the time that the sums of all rows take.
 */
export function valuesQuery({ name, fields, types }: Layer): string | undefined {
  const looks = fields.flatMap((field, index) => {
    const look = lookAt(quote(field), types[index] ?? "");
    return look === undefined ? [] : [{ ...look, index }];
  });
  if (looks.length === 0) return undefined;
  const sums = looks.map(({ flagged, index }) => {
    const terms = flagged.map(([flag, condition]) => `${flag} * max(${condition})`);
    return `${terms.join(" + ")} AS "c${index}"`;
  });
  const hasAny = either(looks.map(({ hasFlag }) => hasFlag));
  const statement = `SELECT ${sums.join(", ")} FROM ${quote(name)}`;
  const shortened = `${statement} WHERE ${hasAny}`;
  return shortened.length > longestArgument ? statement : shortened;
}

/** The query is an argument of a program, for which Linux allows 128 KB. */
const longestArgument = 120_000;

/** Halved again and again, because SQLite refuses an expression that is nested 1000 deep, as a long OR is. */
function either(conditions: readonly string[]): string {
  const [only = "0", ...others] = conditions;
  if (others.length === 0) return only;
  const middle = conditions.length >> 1;
  return `(${either(conditions.slice(0, middle))} OR ${either(conditions.slice(middle))})`;
}

interface Look {
  readonly flagged: readonly (readonly [flag: number, condition: string])[];
  /** True of every value that has one of the flags. */
  readonly hasFlag: string;
}

function lookAt(column: string, type: string): Look | undefined {
  const is = (...kinds: string[]) =>
    `typeof(${column}) IN (${kinds.map((kind) => `'${kind}'`).join(", ")})`;
  const exactDoubles = "-9007199254740992 AND 9007199254740992";
  if (isInteger.test(type)) {
    const isWide = type.startsWith("Integer64");
    const range = type.includes("Boolean") ? "0 AND 1" : "-2147483648 AND 2147483647";
    const outside = `${column} NOT BETWEEN ${isWide ? exactDoubles : range}`;
    return {
      flagged: [
        [flags.beyondDouble, `${is("integer")} AND ${column} NOT BETWEEN ${exactDoubles}`],
        [flags.beyond32, isWide ? "0" : `${is("integer")} AND ${outside}`],
        [flags.real, is("real")],
        [flags.other, is("text", "blob")],
      ],
      hasFlag: either([outside, is("real", "text", "blob")]),
    };
  }
  const flagged: [number, string][] = [];
  if (isReal.test(type)) flagged.push([flags.other, is("text", "blob")]);
  // A usual real is read with all its digits in any case; looking for long ones takes as long as writing them.
  if (isReal.test(type) && type !== guessedType) {
    const digits = type.includes("Float32") ? 8 : 15;
    flagged.push([flags.long, `CAST(printf('%.${digits}g', ${column}) AS REAL) <> ${column}`]);
  }
  if (isTime.test(type)) {
    const day = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*";
    flagged.push([flags.other, `${column} IS NOT NULL AND ${column} NOT GLOB '${day}'`]);
  }
  if (flagged.length === 0) return undefined;
  return { flagged, hasFlag: either(flagged.map(([, condition]) => `(${condition})`)) };
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

/**
 * Conditions for parts of a layer. Each row meets exactly one of them, whatever its number is. The parts
 * are of about the same length where the rows are numbered from 1 on.
 */
export function fidRanges(fidColumn: string, rows: number, count: number): string[] {
  const fid = quote(fidColumn);
  const ends = Array.from({ length: count - 1 }, (_, part) =>
    BigInt(Math.round((rows * (part + 1)) / count)),
  );
  return Array.from({ length: count }, (_, part) => {
    const [after, last] = [ends[part - 1], ends[part]];
    if (last === undefined) return `(${fid} > ${after} OR ${fid} IS NULL)`;
    return after === undefined ? `${fid} <= ${last}` : `${fid} > ${after} AND ${fid} <= ${last}`;
  });
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
