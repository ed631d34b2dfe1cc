/**
 * Finds the types of columns in formats that hold text only, such as CSV, from all their values. A
 * number with leading zeros is a code and stays text, and so does an integer that no column type
 * holds.
 */
import { isUsableDate } from "./usable-date.ts";
import type { GeoColumn } from "./geo-table.ts";

type Type = GeoColumn["type"];
const nothing = "\\N";

const integer = /^-?(?:0|[1-9]\d*)$/;
const real = /^-?(?:0|[1-9]\d*)?(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;
const date = /^\d{4}[-/]\d{2}[-/]\d{2}$/;
const time = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?$/;
const moment =
  /^(\d{4}[-/]\d{2}[-/]\d{2})[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?$/;

/** The value's own type, as COPY writes it. */
function typeOf(value: string): Type | "huge" {
  if (integer.test(value)) {
    if (value.length <= 9) return "integer";
    if (value.length <= 15) {
      const number = Number(value);
      return number >= -2147483648 && number <= 2147483647 ? "integer" : "bigint";
    }
    return value.length > 20 || BigInt.asIntN(64, BigInt(value)) !== BigInt(value)
      ? "huge"
      : "bigint";
  }
  if (value !== "" && value !== "-" && real.test(value) && /\d/.test(value)) {
    return Number.isFinite(Number(value)) ? "double precision" : "text";
  }
  if (date.test(value)) return isUsableDate(value) ? "date" : "text";
  if (time.test(value)) return "time";
  const day = moment.exec(value)?.[1];
  return day !== undefined && isUsableDate(day) ? "timestamptz" : "text";
}

const numbers: readonly (Type | "huge")[] = ["integer", "bigint", "double precision"];

export class TypeSniffer {
  private readonly types: (Type | "huge" | undefined)[];
  /** Values of 16 digits and more lose digits as double precision. */
  private readonly hasLong: boolean[];
  hugeColumns = 0;

  constructor(columns: number) {
    this.types = new Array<undefined>(columns).fill(undefined);
    this.hasLong = new Array<boolean>(columns).fill(false);
  }

  /** Columns in `known` are left out. */
  see(values: readonly string[], known: ReadonlyMap<number, unknown>): void {
    for (const [index, value] of values.entries()) {
      if (known.has(index)) continue;
      const before = this.types[index];
      if (before === "text" || value === nothing) continue;
      const type = typeOf(value);
      if (type === "bigint" && value.length > 15) this.hasLong[index] = true;
      if (type === "huge") this.hugeColumns += before === "huge" ? 0 : 1;
      this.types[index] = before === undefined ? type : unite(before, type);
    }
  }

  /** A column without values is text. */
  typeOf(index: number): Type {
    const type = this.types[index] ?? "text";
    if (type === "huge") return "text";
    return type === "double precision" && this.hasLong[index] === true ? "text" : type;
  }
}

function unite(a: Type | "huge", b: Type | "huge"): Type | "huge" {
  if (a === b) return a;
  const [i, j] = [numbers.indexOf(a), numbers.indexOf(b)];
  if (i >= 0 && j >= 0) return i > j ? a : b;
  const isInteger = (type: string) => ["integer", "bigint", "huge"].includes(type);
  return isInteger(a) && isInteger(b) ? "huge" : "text";
}
