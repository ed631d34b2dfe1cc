/**
 * Reads a point or a polygon of one ring from the hexadecimal WKB of a dump, and proves that its
 * positions can be stored as they are: finite, within the world, closed, not across the antimeridian,
 * and valid. One object reads all rows, so that nothing is allocated for a row. Any other geometry is
 * left to `readWkb`, `prepareGeometry` and `isProvenValid`, which decide the same of these.
 */
import { at } from "./parts.ts";
import { isProvenRing } from "./prove-valid.ts";

const [pointType, polygonType, multiPointType, multiPolygonType] = [1, 3, 4, 6];
const hasSrid = 0x20000000;
/** The hexadecimal digits of a position. */
const positionDigits = 32;

const values = new Uint8Array(256).fill(255);
const digits = new Uint8Array(512);
for (let byte = 0; byte < 256; byte++) {
  const text = byte.toString(16).padStart(2, "0");
  digits.set([text.charCodeAt(0), text.charCodeAt(1)], 2 * byte);
}
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  values[digit.charCodeAt(0)] = value;
  values[digit.toUpperCase().charCodeAt(0)] = value;
}

export class PlainGeometry {
  kind: "point" | "polygon" = "point";
  west = 0;
  south = 0;
  east = 0;
  north = 0;
  /** The ring ran clockwise in the file. It is written the other way round. */
  isReversed = false;
  private count = 0;
  private bytes = new Uint8Array(0);
  private line = new Float64Array(0);
  private text: Uint8Array = this.bytes;
  private place = 0;

  /** Reads the digits from `start` to `end`. False: the geometry needs to be looked at more closely. */
  read(text: Uint8Array, start: number, end: number, isHalved: boolean): boolean {
    this.text = text;
    this.place = start;
    let type = this.header();
    if (type === multiPointType || type === multiPolygonType) {
      const single = type === multiPointType ? pointType : polygonType;
      if (this.uint32() !== 1) return false;
      type = this.header();
      if (type !== single) return false;
    }
    if (type === polygonType && this.uint32() !== 1) return false;
    if (type !== pointType && type !== polygonType) return false;
    const count = type === pointType ? 1 : this.uint32();
    if (this.place + positionDigits * count !== end) return false;
    this.kind = type === pointType ? "point" : "polygon";
    this.count = count;
    this.decode(isHalved);
    return this.isWithinWorld() && (type === pointType || this.isGoodRing());
  }

  /** How many bytes `writeTo` writes. */
  get digitCount(): number {
    const header = this.kind === "point" ? 10 : 26;
    return header + positionDigits * this.count;
  }

  /** Writes the member of a multi geometry as hexadecimal digits. */
  writeTo(target: Uint8Array, start: number): void {
    this.text = target;
    this.place = start;
    this.putByte(1);
    this.putUint32(this.kind === "point" ? pointType : polygonType);
    if (this.kind === "polygon") {
      this.putUint32(1);
      this.putUint32(this.count);
    }
    const { bytes, count } = this;
    for (let index = 0; index < count; index++) {
      const from = 16 * (this.isReversed ? count - 1 - index : index);
      for (let each = from; each < from + 16; each++) this.putByte(bytes[each] ?? 0);
    }
  }

  /** The type without the flag of a reference system; 0 for an order of bytes that is not read here. */
  private header(): number {
    if (this.byte() !== 1) return 0;
    const word = this.uint32();
    if ((word & hasSrid) === 0) return word;
    this.place += 8;
    return word & ~hasSrid;
  }

  private byte(): number {
    const { text, place } = this;
    this.place = place + 2;
    return ((values[text[place] ?? 0] ?? 0) << 4) | (values[text[place + 1] ?? 0] ?? 0);
  }

  private uint32(): number {
    return (this.byte() | (this.byte() << 8) | (this.byte() << 16) | (this.byte() << 24)) >>> 0;
  }

  private decode(isHalved: boolean): void {
    const { text, count, place } = this;
    if (this.line.length < 2 * count) {
      this.line = new Float64Array(4 * count);
      this.bytes = new Uint8Array(this.line.buffer);
    }
    const { bytes, line } = this;
    for (let index = 0, from = place; index < 16 * count; index++, from += 2) {
      bytes[index] = ((values[text[from] ?? 0] ?? 0) << 4) | (values[text[from + 1] ?? 0] ?? 0);
    }
    if (!isHalved) return;
    for (let index = 0; index < 2 * count; index++) line[index] = 2 * at(line, index);
  }

  /** Measures the bounds. Comparisons with a number that is not finite are false. */
  private isWithinWorld(): boolean {
    const { line, count } = this;
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let index = 0; index < 2 * count; index += 2) {
      const x = at(line, index);
      const y = at(line, index + 1);
      if (!(x >= -180 && x <= 180 && y >= -90 && y <= 90)) return false;
      if (index > 0 && Math.abs(x - at(line, index - 2)) > 180) return false;
      if (x < west) west = x;
      if (x > east) east = x;
      if (y < south) south = y;
      if (y > north) north = y;
    }
    // -0 becomes 0, as in `boundsOf`.
    this.west = west + 0;
    this.south = south + 0;
    this.east = east + 0;
    this.north = north + 0;
    this.isReversed = false;
    return true;
  }

  private isGoodRing(): boolean {
    const { line, count } = this;
    if (count < 4 || !isProvenRing(line, count)) return false;
    const [x0, y0] = [at(line, 0), at(line, 1)];
    let area = 0;
    for (let index = 0; index + 3 < 2 * count; index += 2) {
      area +=
        (at(line, index) - x0) * (at(line, index + 3) - y0) -
        (at(line, index + 2) - x0) * (at(line, index + 1) - y0);
    }
    this.isReversed = area < 0;
    return true;
  }

  private putByte(byte: number): void {
    this.text[this.place] = digits[2 * byte] ?? 0;
    this.text[this.place + 1] = digits[2 * byte + 1] ?? 0;
    this.place += 2;
  }

  private putUint32(value: number): void {
    for (let shift = 0; shift < 32; shift += 8) this.putByte((value >>> shift) & 255);
  }
}
