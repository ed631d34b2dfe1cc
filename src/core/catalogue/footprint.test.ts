import { describe, expect, it } from "vitest";
import { footprintOf, walkEdges } from "./footprint.ts";
import type { Position } from "../geometry/geometry.ts";
import { intersects } from "../geometry/intersects.ts";

const point = (x: number, y: number) => ({ type: "Point" as const, coordinates: [x, y] });

/** A raster in degrees: its own coordinates are the map's. */
function degrees(west: number, south: number, east: number, north: number): Position[] {
  return walkEdges([(east - west) / 100, 0, west, 0, (south - north) / 50, north], 100, 50);
}
const wrap = (x: number) => ((((x + 180) % 360) + 360) % 360) - 180;

describe("a footprint", () => {
  it("is the rectangle itself where sides are straight, counter-clockwise and closed", () => {
    const { geometry, bbox } = footprintOf(degrees(5, 45, 10, 50))!;
    expect(bbox).toEqual([5, 45, 10, 50]);
    expect(geometry).toEqual({
      type: "Polygon",
      coordinates: [
        [
          [5, 50],
          [5, 45],
          [10, 45],
          [10, 50],
          [5, 50],
        ],
      ],
    });
  });

  it("keeps the steps of a side that is curved", () => {
    const curved = degrees(5, 45, 10, 50).map(([x = 0, y = 0]) => [
      x,
      y + 0.2 * Math.sin(((x - 5) / 5) * Math.PI),
    ]);
    const { geometry, bbox } = footprintOf(curved)!;
    expect(geometry.type === "Polygon" && geometry.coordinates[0]!.length).toBeGreaterThan(8);
    expect(bbox[3]).toBeCloseTo(50.2, 6);
  });

  it("is two polygons across the antimeridian, with west greater than east", () => {
    const walked = degrees(178, 10, 183, 12).map(([x = 0, y = 0]) => [wrap(x), y]);
    const { geometry, bbox } = footprintOf(walked)!;
    expect(bbox).toEqual([178, 10, -177, 12]);
    expect(geometry.type).toBe("MultiPolygon");
    expect(geometry.coordinates).toHaveLength(2);
    expect(intersects(geometry, point(179, 11))).toBe(true);
    expect(intersects(geometry, point(-178, 11))).toBe(true);
    expect(intersects(geometry, point(0, 11))).toBe(false);
  });

  it("does not mind on which side the walk begins", () => {
    const east = footprintOf(degrees(178, 10, 183, 12))!;
    const west = footprintOf(degrees(-182, 10, -177, 12))!;
    expect(west.bbox).toEqual(east.bbox);
    for (const x of [178.5, -177.5]) expect(intersects(west.geometry, point(x, 11))).toBe(true);
  });

  it("covers the whole world once", () => {
    const { geometry, bbox } = footprintOf(degrees(-180, -90, 180, 90))!;
    expect(bbox).toEqual([-180, -90, 180, 90]);
    expect(geometry.type).toBe("Polygon");
    for (const x of [-179, 0, 179]) expect(intersects(geometry, point(x, 0))).toBe(true);
  });

  it("turns a world from 0 to 360 degrees onto the map", () => {
    const { geometry, bbox } = footprintOf(degrees(0, -90, 360, 90))!;
    expect(bbox).toEqual([-180, -90, 180, 90]);
    for (const x of [-90, 90]) expect(intersects(geometry, point(x, 10))).toBe(true);
  });

  it("holds the pole that a ring goes round", () => {
    const polar = walkEdges([0.02, 0, -1, 0, -0.02, 1], 100, 100).map(([x = 0, y = 0]) => [
      (Math.atan2(x, -y) * 180) / Math.PI,
      90 - 20 * Math.hypot(x, y),
    ]);
    const { geometry, bbox } = footprintOf(polar)!;
    expect(bbox[0]).toBe(-180);
    expect(bbox[2]).toBe(180);
    expect(bbox[3]).toBe(90);
    for (const x of [-179.5, -90, 0, 90, 179.5]) {
      expect(intersects(geometry, point(x, 85))).toBe(true);
      expect(intersects(geometry, point(x, 50))).toBe(false);
    }
  });

  it("does not exist where a corner has no place on earth", () => {
    const walked = degrees(5, 45, 10, 50);
    expect(footprintOf(walked.with(3, [Infinity, 45]))).toBeUndefined();
    expect(footprintOf(walked.with(3, [5, 91]))).toBeUndefined();
    expect(footprintOf(walked.slice(1))).toBeUndefined();
  });
});
