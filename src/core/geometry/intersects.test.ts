import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SimpleGeometry } from "./geometry.ts";
import { intersects } from "./intersects.ts";

const square = (x: number, y: number, size: number): number[][] => [
  [x, y],
  [x + size, y],
  [x + size, y + size],
  [x, y + size],
  [x, y],
];
const polygon = (...rings: number[][][]): SimpleGeometry => ({
  type: "Polygon",
  coordinates: rings,
});
const point = (x: number, y: number): SimpleGeometry => ({ type: "Point", coordinates: [x, y] });
const line = (...coordinates: number[][]): SimpleGeometry => ({ type: "LineString", coordinates });

const ten = polygon(square(0, 0, 10));
const ring = polygon(square(0, 0, 10), square(2, 2, 6));

describe("two geometries share a point", () => {
  it.each([
    ["squares that overlap", ten, polygon(square(5, 5, 10)), true],
    ["squares that share an edge", ten, polygon(square(10, 0, 5)), true],
    ["squares that share a corner", ten, polygon(square(10, 10, 5)), true],
    ["squares apart", ten, polygon(square(11, 0, 5)), false],
    ["a square within another", ten, polygon(square(4, 4, 1)), true],
    ["a square within the hole of another", ring, polygon(square(4, 4, 1)), false],
    ["a square around the hole of another", ring, polygon(square(1, 1, 8)), true],
    ["a point within", ten, point(5, 5), true],
    ["a point on the edge", ten, point(10, 5), true],
    ["a point in the hole", ring, point(5, 5), false],
    ["a point on the edge of the hole", ring, point(2, 5), true],
    ["a line through", ten, line([-5, 5], [15, 5]), true],
    ["a line along an edge", ten, line([0, -5], [0, 15]), true],
    ["a line past the corner", ten, line([11, -5], [11, 15]), false],
    ["a line whose box overlaps and which passes", ten, line([9, -5], [20, 6]), false],
    ["a line within the hole", ring, line([3, 3], [7, 7]), false],
    ["lines that cross", line([0, 0], [2, 2]), line([0, 2], [2, 0]), true],
    ["lines that follow each other", line([0, 0], [1, 1]), line([2, 2], [3, 3]), false],
    ["a point on a line", line([0, 0], [2, 2]), point(1, 1), true],
    ["equal points", point(1, 2), point(1, 2), true],
    ["other points", point(1, 2), point(1, 3), false],
    [
      "a part of many",
      { type: "MultiPolygon", coordinates: [[square(50, 50, 1)], [square(9, 9, 4)]] },
      ten,
      true,
    ],
  ] as [string, SimpleGeometry, SimpleGeometry, boolean][])("%s: %#", (_name, a, b, expected) => {
    expect(intersects(a, b)).toBe(expected);
    expect(intersects(b, a)).toBe(expected);
  });

  it("agrees with the comparison of boxes, for rectangles", () => {
    const rectangle = fc.tuple(
      fc.integer({ min: -20, max: 20 }),
      fc.integer({ min: -20, max: 20 }),
      fc.integer({ min: 1, max: 9 }),
    );
    fc.assert(
      fc.property(rectangle, rectangle, ([ax, ay, a], [bx, by, b]) => {
        const apart = ax + a < bx || bx + b < ax || ay + a < by || by + b < ay;
        const one = polygon(square(ax, ay, a));
        const other = polygon(square(bx, by, b));
        expect(intersects(one, other)).toBe(!apart);
      }),
    );
  });
});
