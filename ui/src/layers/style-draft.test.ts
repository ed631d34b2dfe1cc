import { describe, expect, it } from "vitest";
import { layerStyle } from "../../../src/core/serving/style.ts";
import { lookOf, lookQuery, readBands, readRanges, styleOf } from "./style-draft.ts";

const stored = layerStyle.parse({
  rescale: [
    [0, 255],
    [10, 90.5],
  ],
  bands: [3, 2],
  nodata: -9999,
});

describe("the look of a layer", () => {
  it("is read from a style and written back as it was", () => {
    expect(styleOf(lookOf(stored), stored)).toEqual(stored);
    expect(styleOf(lookOf(null), null)).toBeNull();
    const vector = layerStyle.parse({ vector: { fill: "#ff0000", width: 2 } });
    expect(styleOf(lookOf(vector), vector)).toEqual(vector);
  });

  it("is asked for in the address", () => {
    expect(lookQuery(lookOf(stored))).toBe("rescale=0%2C255&rescale=10%2C90.5&bidx=3%2C2");
    expect(lookQuery({ ...lookOf(null), colormap: "viridis" })).toBe("colormap_name=viridis");
    expect(lookQuery(lookOf(null))).toBe("");
  });

  it.each(["", "5", "5,", "9,1", "a,b", "1,2,3", "1,2;", "1,1"])(
    "asks for no range while it is %j",
    (text) => {
      expect(readRanges(text)).toBeUndefined();
    },
  );

  it.each(["", "0", "1,x", "1,2,3,4,5", "1.5"])("asks for no bands while they are %j", (text) => {
    expect(readBands(text)).toBeUndefined();
  });

  it("loses colours of its own only to chosen ones", () => {
    const own = layerStyle.parse({ colormap: { "1": [255, 0, 0] } });
    expect(styleOf(lookOf(own), own)).toEqual(own);
    expect(styleOf({ ...lookOf(own), colormap: "magma" }, own)).toEqual({ colormap_name: "magma" });
  });
});
