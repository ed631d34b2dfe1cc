import { describe, expect, it } from "vitest";
import { lastZoom, tilesOf } from "./tile-number.ts";

describe("the last zoom of an archive of tiles", () => {
  it("is lower for large areas, so that their tiles can all be made", () => {
    expect(lastZoom([-180, -90, 180, 90])).toBe(7);
    expect(tilesOf([-180, -90, 180, 90], 7)).toHaveLength(128 * 128);
    // Switzerland: 14 by 10 tiles at zoom 10.
    expect(lastZoom([5.96, 45.82, 10.49, 47.81])).toBe(10);
    expect(tilesOf([5.96, 45.82, 10.49, 47.81], 10)).toHaveLength(14 * 10);
    expect(lastZoom([7, 46, 7, 46])).toBe(10);
    expect(lastZoom([-180, -90, 180, 90], 14, 200_000)).toBe(8);
  });
});
