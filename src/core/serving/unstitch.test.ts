import { expect, it } from "vitest";
import { unstitch, unstitchGeometry } from "./unstitch.ts";

it("leaves alone what does not cross", () => {
  const square = [
    [0, 0],
    [10, 0],
    [10, 10],
    [0, 10],
    [0, 0],
  ];
  const [piece, ...others] = unstitch([square]);
  expect(others).toEqual([]);
  expect(new Set(piece![0]!.map(String))).toEqual(new Set(square.map(String)));
});

it("cuts what crosses the antimeridian into both of its sides", () => {
  const pieces = unstitch([
    [
      [170, 0],
      [-170, 0],
      [-170, 10],
      [170, 10],
      [170, 0],
    ],
  ]);
  const spans = pieces.map(([ring]) => {
    const longitudes = ring!.map(([lon]) => lon!);
    return [Math.min(...longitudes), Math.max(...longitudes)];
  });
  expect(spans).toEqual([
    [170, 180],
    [-180, -170],
  ]);
});

it("gives a ring around a pole its pole, within the usual longitudes", () => {
  const ring = [-150, -90, -30, 30, 90, 150].map((lon) => [lon, -70]);
  const pieces = unstitch([[...ring, [-150, -70]]]);
  const points = pieces.flat(2);
  expect(points.some(([, lat]) => lat === -90)).toBe(true);
  expect(points.every(([lon]) => lon! >= -180 && lon! <= 180)).toBe(true);
  const area = pieces.reduce((sum, [outer]) => sum + Math.abs(shoelace(outer!)), 0);
  expect(area).toBeCloseTo(360 * 20, 6);
});

it("takes geometries of other types as they are", () => {
  const point = { type: "Point", coordinates: [1, 2] };
  expect(unstitchGeometry(point)).toBe(point);
});

function shoelace(ring: readonly (readonly number[])[]): number {
  return ring.reduce((sum, [x = 0, y = 0], index) => {
    const [x0 = 0, y0 = 0] = ring.at(index - 1) ?? [];
    return sum + (x0 * y - x * y0) / 2;
  }, 0);
}
