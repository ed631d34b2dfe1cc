import { describe, expect, it } from "vitest";
import { boundsOf, boxOf } from "./boxes.ts";

describe("boxes on a map", () => {
  it("are two where they cross the antimeridian", () => {
    expect(boxOf([170, -10, -170, 10])).toMatchObject({ type: "MultiPolygon" });
    expect(boxOf([-10, -10, 10, 10])).toMatchObject({ type: "Polygon" });
  });

  it("are seen together", () => {
    expect(boundsOf([])).toBeUndefined();
    expect(boundsOf([[170, -10, -170, 10]])).toEqual([170, -10, -170, 10]);
    expect(
      boundsOf([
        [0, 1, 2, 3],
        [-5, 2, 1, 9],
      ]),
    ).toEqual([-5, 1, 2, 9]);
    expect(
      boundsOf([
        [170, -10, -170, 10],
        [0, 1, 2, 3],
      ]),
    ).toEqual([-180, -80, 180, 80]);
  });

  it("may have heights", () => {
    expect(boundsOf([[0, 1, -500, 2, 3, 900]])).toEqual([0, 1, 2, 3]);
  });
});
