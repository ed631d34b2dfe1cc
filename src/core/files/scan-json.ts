/**
 * Reads JSON of any size piece by piece, to count its documents and to find a CRS that is a link:
 * GDAL would fetch it. Only JSON as RFC 8259 has it is accepted, with NaN and Infinity: GDAL also
 * reads comments and single quotes, in which a link could hide.
 */
import {
  decodeKey,
  decodeName,
  fitsInteger,
  isExponent,
  isNumeric,
  isOrdinary,
  isPlainCrs,
} from "./json-bytes.ts";
import { externalReference, shown } from "./problem.ts";
import type { FileProblem } from "./problem.ts";
import type { Edit } from "./edit.ts";
import { mostEdits } from "./edit.ts";

const quote = 0x22;
const backslash = 0x5c;
const longestKey = 256;
const longestCrs = 65_536;
const longestNumber = 400;
/** The characters of the shortest integer that no real number may hold. */
const shortestLong = 16;
const point = 0x2e;
/** The bit in which a small letter differs from its capital. */
const lowerCase = 0x20;
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
  /** A position of a geometry has more than two numbers. */
  readonly hasHeights: boolean;
}

export class JsonScanner {
  private documents = 0;
  private depth = 0;
  private isJson = true;
  private problem: FileProblem | undefined;
  private inString = false;
  private isEscaped = false;
  /** The bytes of the current or last string, up to `longestKey`. */
  private string = new Uint8Array(longestKey);
  private stringLength = 0;
  /** It has an escape or NUL, so that it is not as long as the key that it stands for. */
  private isOddString = false;
  private hasString = false;
  /** The bytes of the value of a member "crs", from the colon to its end. */
  private crs: number[] | undefined;
  private crsDepth = 0;
  private type: string | undefined;
  private isTypeNext = false;
  /** Of the current byte in the file. */
  private position = -1;
  /** The bytes of the file before those that are being read. */
  private offset = 0;
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
  private key = new Uint8Array(longestKey);
  private keyLength = 0;
  /** The member of the document is the list of its features. */
  private isInFeatures = false;
  /** The member of the feature is a geometry or a part of one, and the innermost member "coordinates". */
  private isInGeometry = false;
  private isInCoordinates = false;
  private isPosition = false;
  private commas = 0;
  private hasHeights = false;

  push(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length; index++) {
      if (!this.isJson || this.problem !== undefined) return;
      if (this.crs !== undefined) this.collect(bytes[index] ?? 0);
      else if (this.inString) index = this.skipText(bytes, index);
      else index = this.skipNumber(bytes, index);
      const byte = bytes[index];
      if (byte === undefined) break;
      this.position = this.offset + index;
      if (this.inString) this.readString(byte);
      else this.readMark(byte);
    }
    this.offset += bytes.length;
  }

  end(): ScannedJson {
    this.endNumber();
    const { documents, problem, isJson, type, edits, nulCharacters } = this;
    const { hugeIntegers, hugeKeys, longKeys, hasHeights } = this;
    const found = { edits, nulCharacters, hugeIntegers, hugeKeys, longKeys, hasHeights };
    return { documents, problem, isJson, type, ...found };
  }

  /** Answers the place of the next byte that ends the string or begins an escape. */
  private skipText(bytes: Uint8Array, start: number): number {
    if (this.isEscaped || this.escapeLength > 0) return start;
    let end = start;
    while (end < bytes.length && bytes[end] !== quote && bytes[end] !== backslash) end++;
    for (let index = start; index < end && this.stringLength < longestKey; index++) {
      this.keep(bytes[index] ?? 0);
    }
    // Beyond `longestKey` the length alone counts.
    if (this.stringLength >= longestKey && end > start) this.stringLength = longestKey + 1;
    return end;
  }

  /**
   * Answers the place after a number, if one begins here. A number that may be a long integer, or goes
   * on in the next bytes, is read digit by digit.
   */
  private skipNumber(bytes: Uint8Array, start: number): number {
    if (this.number !== "") return start;
    let end = start;
    let hasPoint = false;
    while (end < bytes.length && isNumeric(bytes[end] ?? 0)) {
      if (bytes[end] === point) hasPoint = true;
      end++;
    }
    if (end === start || end === bytes.length) return start;
    const isLong = end - start >= shortestLong && !hasPoint;
    if (isLong || isExponent(bytes[end] ?? 0)) return start;
    this.hasString = false;
    return end;
  }

  private keep(byte: number): void {
    if (byte === 0 || byte === backslash) this.isOddString = true;
    if (this.stringLength < longestKey) this.string[this.stringLength] = byte;
    this.stringLength++;
  }

  /** GDAL reads an integer of more than 64 bits as the largest one: as text it keeps its digits. */
  private endNumber(): void {
    const { number } = this;
    this.number = "";
    if (number.length < shortestLong || !/^-?\d+$/.test(number)) return;
    const name = () => decodeName(this.key.subarray(0, Math.min(this.keyLength, longestKey)));
    if (fitsInteger(number)) {
      const isLong = this.longKeys.size < mostKeys && !Number.isSafeInteger(Number(number));
      if (isLong) this.longKeys.add(name());
      return;
    }
    this.hugeIntegers++;
    if (this.hugeKeys.size < mostKeys) this.hugeKeys.add(name());
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
      if (this.isTypeNext) this.type = this.stringText();
      this.isTypeNext = false;
      return;
    }
    this.keep(byte);
  }

  private stringText(): string {
    return String.fromCharCode(...this.string.subarray(0, Math.min(this.stringLength, longestKey)));
  }

  private readMark(byte: number): void {
    if (isNumeric(byte)) {
      if (this.number === "") this.numberStart = this.position;
      if (this.number.length < longestNumber) this.number += String.fromCharCode(byte);
    } else if (this.number !== "") {
      if (isExponent(byte)) this.number += "e";
      else this.endNumber();
    }
    switch (byte) {
      case quote:
        this.inString = true;
        this.stringLength = 0;
        this.isOddString = false;
        return;
      case 0x3a: // :
        if (this.hasString) this.beginMember();
        break;
      case 0x2c: // ,
        this.commas++;
        break;
      case 0x7b: // {
      case 0x5b: // [
        this.isPosition = byte === 0x5b && this.isInGeometry && this.isInCoordinates;
        this.commas = 0;
        if (this.depth === 0) this.documents++;
        this.depth++;
        if (this.depth > deepest) this.isJson = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        if (this.isPosition && this.commas > 1) this.hasHeights = true;
        this.isPosition = false;
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

  private beginMember(): void {
    [this.key, this.string] = [this.string, this.key];
    this.keyLength = this.stringLength;
    if (this.isKey("crs")) {
      this.crs = [];
      this.crsDepth = this.depth;
    }
    this.isTypeNext = this.depth === 1 && this.type === undefined && this.isKey("type");
    this.isInCoordinates = this.isKey("coordinates");
    if (this.depth === 1) this.isInFeatures = this.isKey("features");
    if (this.depth === (this.isInFeatures ? 3 : 1)) {
      this.isInGeometry =
        this.isInCoordinates || this.isKey("geometry") || this.isKey("geometries");
    }
  }

  private isKey(wanted: string): boolean {
    const { key, keyLength } = this;
    if (this.isOddString) {
      const text = String.fromCharCode(...key.subarray(0, Math.min(keyLength, longestKey)));
      return decodeKey(text) === wanted;
    }
    if (keyLength !== wanted.length) return false;
    for (let index = 0; index < keyLength; index++) {
      if (((key[index] ?? 0) | lowerCase) !== wanted.charCodeAt(index)) return false;
    }
    return true;
  }
}
