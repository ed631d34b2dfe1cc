import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { doubleCoordinates } from "./half-degrees.ts";
import type { Parts } from "./parts.ts";
import { boundsOf, rewindAll } from "./parts.ts";
import { PlainGeometry } from "./plain-geometry.ts";
import { prepareGeometry } from "./prepare-geometry.ts";
import { isProvenValid } from "./prove-valid.ts";
import { readWkb } from "./read-wkb.ts";
import { geometryFields, multiHeader, writeWkb } from "./write-wkb.ts";

const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const none = { points: new Float64Array(0), lines: [], polygons: [] };
const polygon = (...positions: number[]): Parts => ({
  ...none,
  polygons: [[Float64Array.from(positions)]],
});

/** What the plain way writes for a geometry; undefined: it leaves it to the long way. */
function plainly(
  parts: Parts,
  isHalved = false,
): { text: string; plain: PlainGeometry } | undefined {
  const kind = parts.points.length > 0 ? "point" : "polygon";
  const hex = Buffer.from(toHex(writeWkb(kind, parts, 4326)).toUpperCase(), "latin1");
  const plain = new PlainGeometry();
  if (!plain.read(hex, 0, hex.length, isHalved)) return undefined;
  const target = Buffer.alloc(plain.digitCount);
  plain.writeTo(target, 0);
  return { text: multiHeader("postgis", plain.kind) + target.toString("latin1"), plain };
}

/** What the long way writes; undefined: it repairs, splits or refuses the geometry. */
function theLongWay(parts: Parts, isHalved: boolean): { text: string; parts: Parts } | undefined {
  const kind = parts.points.length > 0 ? "point" : "polygon";
  const read = readWkb(writeWkb(kind, parts, 4326));
  const prepared = prepareGeometry(isHalved ? doubleCoordinates(read) : read);
  if (prepared.unusable !== undefined || prepared.wasSplit) return undefined;
  if (!isProvenValid(prepared.parts)) return undefined;
  const wound = rewindAll(prepared.parts).parts;
  return { text: geometryFields("postgis", kind, wound, toHex), parts: wound };
}

describe("plain geometries", () => {
  it("are written as the long way writes them, whatever the ring", () => {
    const place = fc.oneof(
      fc.integer({ min: -4, max: 4 }),
      fc.double({ min: -200, max: 200, noNaN: true }),
      fc.constantFrom(180, -180, 90, -90, Number.NaN, Infinity, -0),
    );
    const ring = fc
      .array(fc.tuple(place, place), { minLength: 3, maxLength: 60 })
      .map((positions) => [...positions, positions[0] ?? [0, 0]].flat());
    let proven = 0;
    fc.assert(
      fc.property(ring, fc.boolean(), (positions, isHalved) => {
        const parts = polygon(...positions);
        const made = plainly(parts, isHalved);
        if (made === undefined) return;
        proven += 1;
        const expected = theLongWay(parts, isHalved);
        expect(made.text).toBe(expected?.text);
        const { west, south, east, north } = made.plain;
        expect([west, south, east, north]).toEqual(expected && boundsOf(expected.parts));
      }),
      // Clockwise, with 0 and -0 in the west.
      { numRuns: 2000, examples: [[[1, 0, 0, 0, -0, 1, 1, 1, 1, 0], false]] },
    );
    expect(proven).toBeGreaterThan(20);
  });

  it("are the usual ones: rings of any length, wound either way, and points", () => {
    const circle = (count: number, turn: 1 | -1) =>
      Array.from({ length: count + 1 }, (_, index) => {
        const angle = (turn * 2 * Math.PI * (index % count)) / count;
        return [10 + Math.cos(angle), 50 + Math.sin(angle)];
      }).flat();
    for (const count of [3, 4, 47, 48, 49, 500]) {
      for (const turn of [1, -1] as const) {
        const parts = polygon(...circle(count, turn));
        const made = plainly(parts);
        expect(made?.text).toBe(theLongWay(parts, false)?.text);
        expect(made?.plain.isReversed).toBe(turn === -1);
      }
    }
    const point = { ...none, points: Float64Array.from([7.5, 51.25]) };
    expect(plainly(point)?.text).toBe(theLongWay(point, false)?.text);
    // Halved, its latitude is 102.5°.
    expect(plainly(point, true)).toBeUndefined();
  });

  it("are not those that need a look", () => {
    const open = polygon(0, 0, 1, 0, 1, 1, 0, 1);
    const bowTie = polygon(0, 0, 1, 1, 1, 0, 0, 1, 0, 0);
    const repeated = polygon(0, 0, 1, 0, 1, 0, 1, 1, 0, 0);
    const overTheLine = polygon(179, 0, -179, 0, -179, 1, 179, 1, 179, 0);
    const beyond = polygon(179, 0, 181, 0, 181, 1, 179, 1, 179, 0);
    const outer = Float64Array.from([0, 0, 9, 0, 9, 9, 0, 9, 0, 0]);
    const inner = Float64Array.from([1, 1, 1, 2, 2, 2, 2, 1, 1, 1]);
    const hole = { ...none, polygons: [[outer, inner]] };
    for (const parts of [open, bowTie, repeated, overTheLine, beyond, hole]) {
      expect(plainly(parts)).toBeUndefined();
    }
    const empty = { ...none, points: Float64Array.from([Number.NaN, Number.NaN]) };
    expect(plainly(empty)).toBeUndefined();
  });
});
