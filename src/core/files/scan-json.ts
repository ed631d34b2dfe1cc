/**
 * Reads JSON of any size piece by piece, to count its documents and to find a CRS that is a link:
 * GDAL would fetch it. Only JSON as RFC 8259 has it is accepted, with NaN and Infinity: GDAL also
 * reads comments and single quotes, in which a link could hide.
 */
import { externalReference, shown } from "./problem.ts";
import type { FileProblem } from "./problem.ts";
import type { Edit } from "./edit.ts";
import { mostEdits } from "./edit.ts";

const quote = 0x22;
const backslash = 0x5c;
const longestKey = 64;
const longestCrs = 65_536;
const longestNumber = 400;
const mostKeys = 1000;
const deepest = 512;

export interface ScannedJson {
  /** Values that are not inside of another; more than one is a file of lines. */
  readonly documents: number;
  /** True also for a file that is cut off, which GDAL then cannot read. */
  readonly isJson: boolean;
  readonly problem: FileProblem | undefined;
  /** The member "type" of the first document, such as Topology. */
  readonly type: string | undefined;
  /** Changes that keep GDAL from losing values, in the order of their places. */
  readonly edits: readonly Edit[];
  readonly nulCharacters: number;
  readonly hugeIntegers: number;
  /** The members with such integers. */
  readonly hugeKeys: ReadonlySet<string>;
  /** The members with integers that fit into 64 bits and into no real number. */
  readonly longKeys: ReadonlySet<string>;
}

export class JsonScanner {
  private documents = 0;
  private depth = 0;
  private isJson = true;
  private problem: FileProblem | undefined;
  private inString = false;
  private isEscaped = false;
  /** The bytes of the current or last string, up to `longestKey`. */
  private string: number[] = [];
  private stringLength = 0;
  private hasString = false;
  /** The bytes of the value of a member "crs", from the colon to its end. */
  private crs: number[] | undefined;
  private crsDepth = 0;
  private type: string | undefined;
  private isTypeNext = false;
  /** Of the current byte in the file. */
  private position = -1;
  /** The number that is being read: its characters, up to `longestNumber`. */
  private number = "";
  private numberStart = 0;
  /** How many characters of `\\u0000` were read: 0 outside of an escape. */
  private escapeLength = 0;
  private readonly edits: Edit[] = [];
  private nulCharacters = 0;
  private hugeIntegers = 0;
  private readonly hugeKeys = new Set<string>();
  private readonly longKeys = new Set<string>();
  /** The name of the member whose value is being read, in UTF-8. */
  private keyBytes: readonly number[] = [];

  push(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (!this.isJson || this.problem !== undefined) return;
      this.position++;
      this.collect(byte);
      if (this.inString) this.readString(byte);
      else this.readMark(byte);
    }
  }

  end(): ScannedJson {
    this.endNumber();
    const { documents, problem, isJson, type, edits, nulCharacters } = this;
    const { hugeIntegers, hugeKeys, longKeys } = this;
    const found = { edits, nulCharacters, hugeIntegers, hugeKeys, longKeys };
    return { documents, problem, isJson, type, ...found };
  }

  /** GDAL reads an integer of more than 64 bits as the largest one: as text it keeps its digits. */
  private endNumber(): void {
    const { number } = this;
    this.number = "";
    if (number.length < 16 || !/^-?\d+$/.test(number)) return;
    if (fitsInteger(number)) {
      const isLong = this.longKeys.size < mostKeys && !Number.isSafeInteger(Number(number));
      if (isLong) this.longKeys.add(decodeUtf8(this.keyBytes));
      return;
    }
    this.hugeIntegers++;
    if (this.hugeKeys.size < mostKeys) this.hugeKeys.add(decodeUtf8(this.keyBytes));
    this.edit({ at: this.numberStart, remove: 0, insert: '"' });
    this.edit({ at: this.numberStart + number.length, remove: 0, insert: '"' });
  }

  private edit(edit: Edit): void {
    if (this.edits.length >= mostEdits) this.isJson = false;
    this.edits.push(edit);
  }

  /** GDAL ends a text at `\\u0000`. */
  private readEscape(byte: number): void {
    this.escapeLength++;
    const isNext = this.escapeLength === 2 ? byte === 0x75 : byte === 0x30;
    if (!isNext) this.escapeLength = 0;
    else if (this.escapeLength === 6) {
      this.nulCharacters++;
      this.edit({ at: this.position - 3, remove: 4, insert: "fffd" });
      this.escapeLength = 0;
    }
  }

  private collect(byte: number): void {
    if (this.crs === undefined) return;
    const isEnd =
      !this.inString && this.depth === this.crsDepth && (byte === 0x2c || byte === 0x7d);
    if (!isEnd && this.crs.length < longestCrs) {
      this.crs.push(byte);
      return;
    }
    const text = String.fromCharCode(...this.crs.slice(0, 4096));
    if (!isEnd) this.problem = externalReference(`Its "crs" is longer than ${longestCrs} bytes.`);
    else if (!isPlainCrs(text)) {
      this.problem = externalReference(
        `It names its coordinate reference system by a link, which GDAL would fetch: ${shown(text)}`,
      );
    }
    this.crs = undefined;
  }

  private readString(byte: number): void {
    if (this.escapeLength > 0) this.readEscape(byte);
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === backslash) {
      this.isEscaped = true;
      this.escapeLength = 1;
    } else if (byte === quote) {
      this.inString = false;
      this.hasString = true;
      if (this.isTypeNext) this.type = String.fromCharCode(...this.string);
      this.isTypeNext = false;
      return;
    }
    this.stringLength++;
    if (this.stringLength <= longestKey) this.string.push(byte);
  }

  private readMark(byte: number): void {
    if (byte >= 0x2b && byte <= 0x39 && byte !== 0x2c && byte !== 0x2f) {
      if (this.number === "") this.numberStart = this.position;
      if (this.number.length < longestNumber) this.number += String.fromCharCode(byte);
    } else if (this.number !== "") {
      const isExponent = byte === 0x65 || byte === 0x45;
      if (isExponent) this.number += "e";
      else this.endNumber();
    }
    switch (byte) {
      case quote:
        this.inString = true;
        this.string = [];
        this.stringLength = 0;
        return;
      case 0x3a: // :
        if (this.hasString) {
          this.keyBytes = this.string;
          if (this.isKey("crs")) {
            this.crs = [];
            this.crsDepth = this.depth;
          }
          this.isTypeNext = this.depth === 1 && this.type === undefined && this.isKey("type");
        }
        break;
      case 0x7b: // {
      case 0x5b: // [
        if (this.depth === 0) this.documents++;
        this.depth++;
        if (this.depth > deepest) this.isJson = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        this.depth--;
        if (this.depth < 0) this.isJson = false;
        break;
      case 0x09:
      case 0x0a:
      case 0x0d:
      case 0x20:
        return;
      default:
        if (!isOrdinary(byte)) this.isJson = false;
    }
    this.hasString = false;
  }

  private isKey(key: string): boolean {
    return decodeKey(String.fromCharCode(...this.string)) === key;
  }
}

function decodeUtf8(bytes: readonly number[]): string {
  return decodeURIComponent(bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""));
}

function fitsInteger(digits: string): boolean {
  const value = BigInt(digits);
  return BigInt.asIntN(64, value) === value;
}

/** Numbers, words such as `null`, commas, and the record separator of RFC 8142. */
function isOrdinary(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    byte === 0x2c ||
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x2b ||
    byte === 0x1e
  );
}

/**
 * GDAL compares keys without regard to case, after decoding `\u0063`, and up to a NUL character. A
 * longer key than `longestKey` is cut, and equals no key that is searched.
 */
function decodeKey(raw: string): string {
  const decoded = raw.replaceAll(/\\u([\da-f]{4})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return untilNul(decoded).toLowerCase();
}

function untilNul(text: string): string {
  return text.split("\0", 1)[0] ?? "";
}

const namedTypes = new Set(["name", "epsg", "ogc"]);

/** Null, a text, or an object that names its system: `{"type":"name","properties":{…}}`. */
function isPlainCrs(text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  if (value === null || typeof value !== "object") return true;
  const types = Object.entries(value)
    .filter(([key]) => untilNul(key).toLowerCase() === "type")
    .map(([, type]) => String(type).toLowerCase());
  return types.every((type) => namedTypes.has(type));
}
