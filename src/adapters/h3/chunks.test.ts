import { describe, expect, it } from "vitest";
import type { Bbox } from "../../core/geometry/geometry.ts";
import { chunksIn, chunksNear } from "./chunks.ts";

describe("chunks near a box", () => {
  it.each<[string, Bbox]>([
    ["the Alps", [5, 45, 11, 48]],
    ["a street", [7.4, 46.9, 7.41, 46.91]],
    ["the equator", [-3, -4, 9, 5]],
    ["both sides of the antimeridian", [170, -25, -170, -10]],
    ["the antimeridian from the west", [174, 50, 180, 60]],
    ["the far north", [-40, 80, 10, 89.9]],
    ["the South Pole", [-180, -90, 180, -84]],
    ["a strip around the world", [-180, 10, 180, 11]],
    ["the world", [-180, -90, 180, 90]],
  ])("are all whose box overlaps %s", (_, box) => {
    expect(chunksNear(box)).toEqual(chunksIn([box], false).toSorted());
  });

  it("are all whose box overlaps one of a grid of boxes over the globe", () => {
    for (let lat = -88; lat < 88; lat += 11) {
      for (let lon = -179; lon < 178; lon += 23) {
        const box: Bbox = [lon, lat, lon + 1.5, lat + 1.5];
        expect(chunksNear(box), box.join()).toEqual(chunksIn([box], false).toSorted());
      }
    }
  });
});
