/** The types of Parquet as columns of a layer, and their values as text that loses nothing. */
import { isUtf8 } from "node:buffer";
import type { ParquetParsers, SchemaElement } from "hyparquet";
import type { GeoColumn } from "../../core/vector/geo-table.ts";
import type { RawKind } from "../../core/vector/raw-values.ts";
import { isUsableDate } from "../../core/vector/usable-date.ts";

type Type = GeoColumn["type"];

export interface ParquetColumn {
  readonly name: string;
  readonly type: Type;
  /** The type is found from the digits of all values. */
  readonly raw?: RawKind | undefined;
  /** Digits behind the point of a decimal number, which is stored as an integer. */
  readonly scale?: number | undefined;
  /** The unit of a time of day. */
  readonly unit?: "MILLIS" | "MICROS" | "NANOS" | undefined;
}

export function describeColumn(element: SchemaElement): ParquetColumn {
  const { name, type, converted_type: converted, logical_type: logical } = element;
  if ((element.num_children ?? 0) > 0 || element.repetition_type === "REPEATED") {
    return { name, type: "jsonb" };
  }
  if (isDecimal(element)) {
    const scale = logical?.type === "DECIMAL" ? logical.scale : element.scale;
    return { name, type: "double precision", raw: "decimal", scale: scale ?? 0 };
  }
  if (logical?.type === "TIME" || converted?.startsWith("TIME_") === true) {
    const named = logical?.type === "TIME" ? logical.unit : undefined;
    const unit = named ?? (converted === "TIME_MILLIS" ? "MILLIS" : "MICROS");
    return { name, type: "time", unit };
  }
  const isUnsigned =
    logical?.type === "INTEGER" ? !logical.isSigned : converted?.startsWith("UINT") === true;
  if (type === "INT64" && isUnsigned) return { name, type: "bigint", raw: "digits" };
  if (type === "INT32" && isUnsigned) return { name, type: "bigint" };
  return { name, type: plainType(element) };
}

function plainType({
  type,
  converted_type: converted,
  logical_type: logical,
}: SchemaElement): Type {
  if (logical?.type === "DATE" || converted === "DATE") return "date";
  if (logical?.type === "TIMESTAMP" || converted?.startsWith("TIMESTAMP") === true) {
    return "timestamptz";
  }
  if (logical?.type === "JSON" || converted === "JSON") return "jsonb";
  if (logical?.type === "FLOAT16") return "double precision";
  switch (type) {
    case "BOOLEAN":
      return "boolean";
    case "INT32":
      return "integer";
    case "INT64":
      return "bigint";
    case "INT96":
      return "timestamptz";
    case "FLOAT":
    case "DOUBLE":
      return "double precision";
    default:
      return "text";
  }
}

/** Decimal numbers without their mark: the library would make rounded numbers of them. */
export function asIntegers(element: SchemaElement): SchemaElement {
  if (!isDecimal(element)) return element;
  const plain = { ...element };
  delete plain.converted_type;
  delete plain.logical_type;
  return plain;
}

function isDecimal({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return logical?.type === "DECIMAL" || converted === "DECIMAL";
}

/** Moments as text with microseconds, which a `Date` would cut off; geometries as their bytes. */
export const exactParsers = {
  timestampFromMilliseconds: (millis: bigint | number) => moment(BigInt(millis) * 1000n),
  timestampFromMicroseconds: (micros: bigint) => moment(micros),
  timestampFromNanoseconds: (nanos: bigint) => moment(nanos / 1000n),
  dateFromDays: (days: number) => {
    const text = moment(BigInt(days) * 86_400_000_000n);
    return text === outside ? text : text.slice(0, 10);
  },
  jsonFromBytes: (bytes: Uint8Array) => new JsonText(Buffer.from(bytes).toString("utf8")),
  geometryFromBytes: (bytes: Uint8Array) => bytes,
  geographyFromBytes: (bytes: Uint8Array) => bytes,
} as unknown as Partial<ParquetParsers>;

/** A document as it is in the file: parsed, it would lose digits. */
class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = isJson(text) ? text : JSON.stringify(text);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const outside = Symbol("a year that is not between 1 and 9999");

function moment(micros: bigint): string | typeof outside {
  const millis = micros / 1000n - (micros % 1000n < 0n ? 1n : 0n);
  const text = utc(Number(millis));
  if (text === undefined) return outside;
  const rest = micros - millis * 1000n;
  return rest === 0n ? text : text.replace("Z", `${String(rest).padStart(3, "0")}Z`);
}

function utc(millis: number): string | undefined {
  const date = new Date(millis);
  const text = Number.isNaN(date.getTime()) ? "" : date.toISOString();
  return isUsableDate(text.slice(0, 10)) && /^\d{4}-/.test(text) ? text : undefined;
}

/** Undefined: there is no value. Null: there is a date that cannot be kept. */
export function textOf(value: unknown, column: ParquetColumn): string | undefined | null {
  if (value === undefined || value === null) return undefined;
  if (value === outside) return null;
  if (column.type === "jsonb") return toJson(value);
  if (column.scale !== undefined) return decimal(value, column.scale);
  if (column.unit !== undefined) return timeOfDay(BigInt(value as number | bigint), column.unit);
  if (value instanceof Uint8Array) {
    return isUtf8(value) && !value.some(isControl)
      ? Buffer.from(value).toString("utf8")
      : `\\x${Buffer.from(value).toString("hex")}`;
  }
  return typeof value === "string" ? value : toText(value);
}

/** NaN and infinite numbers by PostgreSQL's names. */
function toText(value: unknown): string {
  const isPlain = typeof value === "number" || typeof value === "bigint";
  return isPlain ? String(value) : toJson(value);
}

/** Bytes of no text, but for tabs and line breaks. */
function isControl(byte: number): boolean {
  return byte < 32 && byte !== 9 && byte !== 10 && byte !== 13;
}

function decimal(value: unknown, scale: number): string {
  const integer =
    value instanceof Uint8Array ? signed(value) : BigInt(value as number | bigint | string);
  if (scale <= 0) return String(integer * 10n ** BigInt(-scale));
  const digits = String(integer < 0n ? -integer : integer).padStart(scale + 1, "0");
  const [whole, rest] = [digits.slice(0, -scale), digits.slice(-scale).replace(/0+$/, "")];
  return `${integer < 0n ? "-" : ""}${whole}${rest === "" ? "" : `.${rest}`}`;
}

/** A big-endian integer in two's complement. */
function signed(bytes: Uint8Array): bigint {
  const hex = Buffer.from(bytes).toString("hex");
  return BigInt.asIntN(8 * bytes.length, hex === "" ? 0n : BigInt(`0x${hex}`));
}

const perSecond = { MILLIS: 1000n, MICROS: 1_000_000n, NANOS: 1_000_000_000n } as const;

function timeOfDay(value: bigint, unit: keyof typeof perSecond): string {
  const micros = (value * 1_000_000n) / perSecond[unit];
  const seconds = micros / 1_000_000n;
  const two = (number: bigint) => String(number % 60n).padStart(2, "0");
  const rest = micros % 1_000_000n;
  const clock = `${String(seconds / 3600n).padStart(2, "0")}:${two(seconds / 60n)}:${two(seconds)}`;
  return rest === 0n ? clock : `${clock}.${String(rest).padStart(6, "0")}`;
}

/** JSON with every digit of large integers. */
function toJson(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (value instanceof JsonText) return value.text;
  if (value instanceof Uint8Array)
    return JSON.stringify(`\\x${Buffer.from(value).toString("hex")}`);
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  if (value === undefined || value === null || value === outside) return "null";
  if (typeof value !== "object") return JSON.stringify(value);
  if (ArrayBuffer.isView(value)) return toJson([...(value as unknown as Iterable<unknown>)]);
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${toJson(member)}`,
  );
  return `{${members.join(",")}}`;
}
