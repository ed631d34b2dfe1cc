import { describe, expect, it } from "vitest";
import { paintShapes, pictureSize } from "./paint-shapes.ts";

describe("shapes", () => {
  it("are painted with a darker outline, and nothing where there is none", () => {
    const ids = [
      [-1, -1, -1, -1, -1],
      [-1, 4, 4, 4, -1],
      [-1, 4, 4, 4, 9],
      [-1, 4, 4, 4, 9],
      [-1, -1, -1, 9, 9],
    ].flat();
    const { rgba } = paintShapes(ids, 5, 5);
    const rows = Array.from({ length: 5 }, (_, row) =>
      Array.from({ length: 5 }, (_, column) => {
        const at = (row * 5 + column) * 4;
        return rgba[at + 3] === 0 ? "." : rgba[at]! < 0x40 ? "#" : "o";
      }).join(""),
    );
    // The edge of the picture is no outline.
    expect(rows).toEqual([".....", ".###.", ".#o##", ".####", "...#o"]);
  });

  it("get a picture of their proportions", () => {
    expect(pictureSize({ width: 360, height: 180 }, 256)).toEqual({ width: 256, height: 128 });
    expect(pictureSize({ width: 1, height: 1e6 }, 256)).toEqual({ width: 1, height: 256 });
  });
});
