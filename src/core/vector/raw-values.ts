/**
 * Columns that GDAL is made to read in another type, so that it changes no value: unsigned integers
 * and the bits of real numbers as integers, and the digits of dBASE's numbers as text. Here their
 * values become numbers again.
 */
import type { GeoColumn } from "./geo-table.ts";

/** `decimal`: every digit counts; `digits`: those behind the 17th of a fraction are noise. */
export type RawKind = "unsigned" | "double" | "float" | "digits" | "decimal";

const nothing = "\\N";
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const whole = /^[+-]?\d+$/;
const view = new DataView(new ArrayBuffer(8));

export class RawColumn {
  readonly kind: RawKind;
  private isWhole = true;
  private isNumber = true;
  /** True: an integer needs more than 64 bits, or a column with fractions has one of 16 digits. */
  private hasHuge = false;
  private hasLong = false;

  constructor(kind: RawKind) {
    this.kind = kind;
  }

  /** The value that GDAL wrote as the value that the file holds. */
  read(value: string): string {
    if (value === nothing) return value;
    if (this.kind === "double") {
      view.setBigInt64(0, BigInt(value));
      return String(view.getFloat64(0));
    }
    if (this.kind === "float") {
      view.setInt32(0, Number(value));
      return shortest(view.getFloat32(0));
    }
    return this.kind === "unsigned" ? this.readUnsigned(value) : this.readDigits(value);
  }

  /** After the last row. */
  get type(): GeoColumn["type"] {
    if (this.kind === "double" || this.kind === "float") return "double precision";
    if (!this.isNumber || this.hasHuge) return "text";
    if (this.isWhole) return "bigint";
    return this.hasLong ? "text" : "double precision";
  }

  /** True: the column is text, because numbers among its values have too many digits. */
  get isHuge(): boolean {
    return this.isNumber && this.type === "text";
  }

  private readUnsigned(value: string): string {
    if (!value.startsWith("-")) return value;
    this.hasHuge = true;
    return String(BigInt.asUintN(64, BigInt(value)));
  }

  private readDigits(value: string): string {
    const digits = value.trim();
    // dBASE fills a field with asterisks where the number did not fit.
    if (digits === "" || /^\*+$/.test(digits)) return nothing;
    if (whole.test(digits)) {
      const integer = BigInt(digits);
      if (BigInt.asIntN(64, integer) !== integer) this.hasHuge = true;
      else if (BigInt(Number(integer)) !== integer) this.hasLong = true;
      return this.isWhole && this.isNumber ? String(integer) : digits;
    }
    this.isWhole = false;
    if (!number.test(digits)) this.isNumber = false;
    else if (this.kind === "decimal" && digits.replaceAll(/^-?[0.]*|\./g, "").length > 15) {
      this.hasLong = true;
    }
    return digits;
  }
}

/** The shortest digits that are the same number of 32 bits. */
function shortest(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === value) return String(text);
  }
  return String(Number.isFinite(value) ? Number(value.toPrecision(9)) : value);
}
