/**
 * Reads well-known binary in two dimensions, in the forms of ISO (type + 1000, 2000, 3000) and of
 * PostGIS (flags in the high bits). Each count in the bytes is checked against the remaining bytes
 * before anything is allocated for it.
 */
import { linearise } from "./linearise.ts";
import type { Line, Parts, Polygon } from "./parts.ts";

export interface ReadGeometry extends Parts {
  /** A coordinate is not a finite number. */
  readonly hasNonFinite: boolean;
  /** It has circular arcs, which are straight lines here. */
  readonly hasCurves: boolean;
  /** A height is not 0. */
  readonly hasHeights: boolean;
}

export class BadWkb extends Error {
  constructor(reason: string) {
    super(`This is not a geometry that can be read: ${reason}.`);
    this.name = "BadWkb";
  }
}

const hasZ = 0x80000000;
const hasM = 0x40000000;
const hasSrid = 0x20000000;
const deepest = 32;

export function readWkb(bytes: Uint8Array): ReadGeometry {
  const reader = new Reader(bytes);
  reader.geometry(0);
  return {
    points: Float64Array.from(reader.points),
    lines: reader.lines,
    polygons: reader.polygons,
    hasNonFinite: reader.hasNonFinite,
    hasCurves: reader.hasCurves,
    hasHeights: reader.hasHeights,
  };
}

class Reader {
  readonly points: number[] = [];
  readonly lines: Line[] = [];
  readonly polygons: Polygon[] = [];
  hasNonFinite = false;
  hasCurves = false;
  hasHeights = false;
  private readonly view: DataView;
  private offset = 0;
  private isLittle = true;
  private stride = 16;
  private isHigh = false;

  constructor(bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  geometry(depth: number): void {
    if (depth > deepest) throw new BadWkb(`collections are nested deeper than ${deepest}`);
    const type = this.header();
    switch (type) {
      case 1: {
        const position = this.positions(1);
        // WKB has no other form for an empty point.
        if (!Number.isNaN(position[0])) this.points.push(...position);
        return;
      }
      case 2: {
        const line = this.positions(this.count(this.stride));
        if (line.length > 0) this.lines.push(line);
        return;
      }
      case 3:
      case 17:
        this.polygon();
        return;
      case 8:
      case 9: {
        const curve = this.curve(type, depth);
        if (curve.length > 0) this.lines.push(curve);
        return;
      }
      case 10:
        this.curvePolygon(depth);
        return;
      case 4:
      case 5:
      case 6:
      case 7:
      case 11:
      case 12:
      case 15:
      case 16: {
        const members = this.count(5);
        for (let member = 0; member < members; member++) this.geometry(depth + 1);
        return;
      }
      default:
        throw new BadWkb(`type ${type} is not supported`);
    }
  }

  /** Reads byte order, type and reference system; answers the type without its dimensions. */
  private header(): number {
    this.need(5, 1);
    this.isLittle = this.view.getUint8(this.offset) === 1;
    this.offset += 1;
    const word = this.uint32();
    if ((word & hasSrid) !== 0) this.uint32();
    const code = word & 0x0fffffff;
    const thousands = Math.floor(code / 1000);
    this.isHigh = (word & hasZ) !== 0 || thousands === 1 || thousands === 3;
    const more =
      (this.isHigh ? 1 : 0) + ((word & hasM) !== 0 || thousands === 2 || thousands === 3 ? 1 : 0);
    this.stride = 16 + 8 * more;
    return code % 1000;
  }

  /** A line string, a circular string, or a compound of both, whose parts share their ends. */
  private curve(type: number, depth: number): Line {
    if (depth > deepest) throw new BadWkb(`curves are nested deeper than ${deepest}`);
    if (type === 2) return this.positions(this.count(this.stride));
    this.hasCurves = true;
    if (type === 8) return linearise(this.positions(this.count(this.stride)));
    if (type !== 9) throw new BadWkb(`type ${type} is no part of a curve`);
    const parts: number[] = [];
    const members = this.count(5);
    for (let member = 0; member < members; member++) {
      const line = this.curve(this.header(), depth + 1);
      const isJoined = parts.length > 0;
      for (let index = isJoined ? 2 : 0; index < line.length; index++) parts.push(line[index] ?? 0);
    }
    return Float64Array.from(parts);
  }

  private curvePolygon(depth: number): void {
    this.hasCurves = true;
    const rings: Line[] = [];
    const count = this.count(5);
    for (let ring = 0; ring < count; ring++) {
      const line = this.curve(this.header(), depth + 1);
      if (line.length > 0) rings.push(line);
    }
    if (rings.length > 0) this.polygons.push(rings);
  }

  private polygon(): void {
    const stride = this.stride;
    const rings: Line[] = [];
    const count = this.count(4);
    for (let ring = 0; ring < count; ring++) {
      const line = this.positions(this.count(stride));
      if (line.length > 0) rings.push(line);
    }
    if (rings.length > 0) this.polygons.push(rings);
  }

  private positions(count: number): Line {
    this.need(count, this.stride);
    const line = new Float64Array(2 * count);
    let finite = true;
    for (let index = 0; index < count; index++) {
      const x = this.view.getFloat64(this.offset, this.isLittle);
      const y = this.view.getFloat64(this.offset + 8, this.isLittle);
      if (!Number.isFinite(x) || !Number.isFinite(y)) finite = false;
      line[2 * index] = x;
      line[2 * index + 1] = y;
      if (this.isHigh && this.view.getFloat64(this.offset + 16, this.isLittle) !== 0) {
        this.hasHeights = true;
      }
      this.offset += this.stride;
    }
    if (!finite && !(count === 1 && Number.isNaN(line[0]))) this.hasNonFinite = true;
    return line;
  }

  private count(bytesEach: number): number {
    const count = this.uint32();
    this.need(count, bytesEach);
    return count;
  }

  private uint32(): number {
    this.need(1, 4);
    const value = this.view.getUint32(this.offset, this.isLittle);
    this.offset += 4;
    return value;
  }

  private need(count: number, bytesEach: number): void {
    if (count * bytesEach > this.view.byteLength - this.offset) {
      throw new BadWkb("it ends too early");
    }
  }
}
