import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Kind, Parts } from "./parts.ts";
import { kinds } from "./parts.ts";
import { BadWkb, readWkb } from "./read-wkb.ts";
import { writeWkb } from "./write-wkb.ts";

const none: Parts = { points: new Float64Array(0), lines: [], polygons: [] };
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"));
const line = (least: number) =>
  fc
    .array(fc.tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()), {
      minLength: least,
      maxLength: 8,
    })
    .map((positions) => Float64Array.from(positions.flat()));

const geometry: fc.Arbitrary<[Kind, Parts]> = fc.oneof(
  line(1).map((points): [Kind, Parts] => ["point", { ...none, points }]),
  fc
    .array(line(2), { minLength: 1, maxLength: 3 })
    .map((lines): [Kind, Parts] => ["line", { ...none, lines }]),
  fc
    .array(fc.array(line(4), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
    .map((polygons): [Kind, Parts] => ["polygon", { ...none, polygons }]),
);

describe("well-known binary", () => {
  it("reads what it writes, with and without a reference system", () => {
    fc.assert(
      fc.property(geometry, fc.constantFrom(undefined, 4326), ([kind, parts], srid) => {
        const { points, lines, polygons } = readWkb(writeWkb(kind, parts, srid));
        expect({ points, lines, polygons }).toEqual(parts);
      }),
    );
  });

  it("leaves out heights and measures, in either spelling", () => {
    const coordinates = "000000000000f03f0000000000000040";
    const more = "0000000000000840";
    for (const [type, extra] of [
      ["e9030000", more],
      ["b90b0000", more + more],
      ["01000080", more],
      ["010000c0", more + more],
    ] as const) {
      expect([...readWkb(bytes(`01${type}${coordinates}${extra}`)).points]).toEqual([1, 2]);
    }
  });

  it("takes a collection apart, and an empty point for nothing", () => {
    const empty = "0101000000000000000000f87f000000000000f87f";
    const read = readWkb(
      bytes(
        `010700000002000000${empty}0102000000020000000000000000000000000000000000f03f00000000000000000000000000000840`,
      ),
    );
    expect(read.points).toHaveLength(0);
    expect(read.lines.map((each) => [...each])).toEqual([[0, 1, 0, 3]]);
    expect(read.hasNonFinite).toBe(false);
  });

  it.each([
    ["claims more points than it has bytes", "0102000000ffffffff"],
    ["claims more members than it has bytes", "0107000000ffffff7f"],
    ["is cut off", "010100000000"],
    ["is of an unknown type", "0163000000"],
    ["is empty", ""],
  ])("is refused without an allocation when it %s", (_, hex) => {
    expect(() => readWkb(bytes(hex))).toThrow(BadWkb);
  });

  it("is refused when collections are nested without end", () => {
    expect(() => readWkb(bytes("010700000001000000".repeat(40)))).toThrow(BadWkb);
  });

  it("never throws anything else", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (random) => {
        try {
          readWkb(random);
        } catch (error) {
          expect(error).toBeInstanceOf(BadWkb);
        }
      }),
    );
  });

  it("knows a multi type for each kind", () => {
    expect(kinds.map((kind) => writeWkb(kind, none)[1])).toEqual([4, 5, 6]);
  });
});
