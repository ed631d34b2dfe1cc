import { describe, expect, it } from "vitest";
import { layerStyle } from "../../../src/core/serving/style.ts";
import { draftOf, findProblems, tileQuery, readBands, readRanges, toStyle } from "./style-draft.ts";

const stored = layerStyle.parse({
  rescale: [
    [0, 255],
    [10, 90.5],
  ],
  bands: [3, 2],
  nodata: -9999,
});

describe("the draft of a style", () => {
  it("is read from a style and written back as it was", () => {
    expect(toStyle(draftOf(stored), stored)).toEqual(stored);
    expect(toStyle(draftOf(null), null)).toBeNull();
    const vector = layerStyle.parse({ vector: { fill: "#ff0000", width: 2 } });
    expect(toStyle(draftOf(vector), vector)).toEqual(vector);
  });

  it("becomes the query of the address", () => {
    expect(tileQuery(draftOf(stored))).toBe("rescale=0%2C255&rescale=10%2C90.5&bidx=3%2C2");
    expect(tileQuery({ ...draftOf(null), colormap: "viridis" })).toBe("colormap_name=viridis");
    expect(tileQuery(draftOf(null))).toBe("");
  });

  it.each(["", "5", "5,", "9,1", "a,b", "1,2,3", "1,2;", "1,1"])(
    "has no range while the text is %j",
    (text) => {
      expect(readRanges(text)).toBeUndefined();
    },
  );

  it.each(["", "0", "1,x", "1,2,3,4,5", "1.5"])("has no bands while the text is %j", (text) => {
    expect(readBands(text)).toBeUndefined();
  });

  it("says what is wrong with a field, so that it is not stored as if it were empty", () => {
    expect(findProblems(draftOf(stored))).toEqual({});
    expect(findProblems(draftOf(null))).toEqual({});
    const wrong = { ...draftOf(stored), rescale: "9,1", bands: "0", vector: { width: NaN } };
    expect(Object.keys(findProblems(wrong))).toEqual(["rescale", "bands", "width"]);
  });

  it("keeps the stored colours until others are chosen", () => {
    const custom = layerStyle.parse({ colormap: { "1": [255, 0, 0] } });
    expect(toStyle(draftOf(custom), custom)).toEqual(custom);
    expect(toStyle({ ...draftOf(custom), colormap: "magma" }, custom)).toEqual({
      colormap_name: "magma",
    });
  });
});
