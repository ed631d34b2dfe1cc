import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  chooseFormat,
  chooseOptions,
  optionsKey,
  renderQuery,
  toQueryText,
} from "./render-options.ts";

const query = z.strictObject(renderQuery);
const read = (given: object) => query.parse(given);
const refuse = (given: object) => query.safeParse(given).error?.issues[0]?.message;

describe("what an address asks for", () => {
  it("is read in TiTiler's ways", () => {
    expect(read({ bidx: ["3", "2", "1"] }).bidx).toEqual([3, 2, 1]);
    expect(read({ bidx: "3,2,1" }).bidx).toEqual([3, 2, 1]);
    expect(read({ rescale: "0,1000" }).rescale).toEqual([[0, 1000]]);
    expect(read({ rescale: ["0,1", "-5.5,2e3"] }).rescale).toEqual([
      [0, 1],
      [-5.5, 2000],
    ]);
    expect(read({ nodata: "nan" }).nodata).toBeNaN();
    expect(read({ colormap: '{"1":[1,2,3]}' }).colormap).toEqual({ "1": [1, 2, 3] });
  });

  it.each([
    [{ bidx: "0" }, /numbers of bands/],
    [{ bidx: "one" }, /numbers of bands/],
    [{ rescale: "5,5" }, /low < high/],
    [{ rescale: "1" }, /low < high/],
    [{ rescale: "," }, /low < high/],
    [{ nodata: "" }, /number or "nan"/],
    [{ colormap: "{" }, /must be JSON/],
    [{ colormap: '{"1":[999,0,0]}' }, /must be JSON/],
    [{ colormap_name: "constructor" }, /Invalid option/],
    [{ resampling: "cubic" }, /nearest/],
  ])("is refused with a reason: %j", (given, reason) => {
    expect(refuse(given)).toMatch(reason);
  });

  it("counts before the layer's style, whose ranges stay with its bands", () => {
    const style = {
      bands: [4],
      rescale: [[0, 9] as [number, number]],
      colormap_name: "viridis" as const,
    };
    expect(chooseOptions(read({}), style)).toMatchObject({
      bands: [4],
      rescale: [[0, 9]],
      colormap_name: "viridis",
    });
    const other = chooseOptions(read({ bidx: "1" }), style);
    expect([other.bands, other.rescale, other.colormap_name]).toEqual([[1], undefined, undefined]);
    const own = chooseOptions(read({ colormap: '{"1":[1,2,3]}' }), style);
    expect([own.colormap_name, own.rescale]).toEqual([undefined, [[0, 9]]]);
  });

  it("has one key, and comes back from its own text", () => {
    const given = {
      bidx: ["2", "1", "3"],
      rescale: ["0,1", "2,3", "4,5"],
      nodata: "nan",
      colormap: '{"1":[1,2,3]}',
    };
    const text = new URLSearchParams(toQueryText(read(given)).slice(1));
    const back = { ...Object.fromEntries(text), rescale: text.getAll("rescale") };
    const keyOf = (each: object) => optionsKey(chooseOptions(read(each), null));
    expect(keyOf(back)).toBe(keyOf(given));
    expect(keyOf(given)).not.toBe(keyOf({ ...given, nodata: "0" }));
    expect(toQueryText({})).toBe("");
  });
});

describe("the format", () => {
  it.each([
    ["png", undefined, "png"],
    ["jpg", "image/webp", "jpeg"],
    [undefined, "image/webp", "webp"],
    [undefined, "image/avif,image/webp,image/*,*/*;q=0.8", "auto"],
    [undefined, "application/json", "auto"],
    [undefined, undefined, "auto"],
  ] as const)("for .%s and Accept %s is %s", (extension, accept, expected) => {
    expect(chooseFormat(extension, accept)).toBe(expected);
  });
});
