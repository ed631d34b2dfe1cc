import { describe, expect, it } from "vitest";
import {
  halfWorld,
  isTile,
  resolutionAt,
  tileBox,
  toDegrees,
  toMercator,
  zoomFor,
} from "./web-mercator.ts";

describe("web mercator", () => {
  it("cuts the world into tiles from the top left", () => {
    expect(tileBox({ z: 0, x: 0, y: 0 })).toEqual([-halfWorld, -halfWorld, halfWorld, halfWorld]);
    expect(tileBox({ z: 1, x: 1, y: 0 })).toEqual([0, 0, halfWorld, halfWorld]);
  });

  it("knows which tiles there are", () => {
    expect(isTile({ z: 3, x: 7, y: 7 })).toBe(true);
    expect(isTile({ z: 3, x: 8, y: 0 })).toBe(false);
    expect(isTile({ z: 25, x: 0, y: 0 })).toBe(false);
  });

  it("agrees with itself there and back", () => {
    const [lon, lat] = toDegrees(...toMercator(11.5, 48.25));
    expect(lon).toBeCloseTo(11.5, 10);
    expect(lat).toBeCloseTo(48.25, 10);
    expect(toMercator(0, 90)[1]).toBeCloseTo(halfWorld, 3);
  });

  it("finds the zoom of a resolution, also when rounding blurs it", () => {
    for (const zoom of [0, 7, 12, 18]) {
      expect(zoomFor(resolutionAt(zoom))).toBe(zoom);
      expect(zoomFor(resolutionAt(zoom) * 1.001)).toBe(zoom);
    }
    expect(zoomFor(30)).toBe(13);
  });
});
