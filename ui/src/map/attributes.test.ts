import { expect, it } from "vitest";
import { attributesOf } from "./attributes.ts";

it("lists the attributes of a feature, one by one", () => {
  expect(attributesOf({ name: "square 1", population: 200, owner: null, tags: ["a"] })).toEqual([
    ["name", "square 1"],
    ["population", "200"],
    ["owner", "–"],
    ["tags", '["a"]'],
  ]);
});

it("lists the values of a raster by band", () => {
  const point = { coordinates: [7.2, 46.9], values: [1363.2, null], band_names: ["b1", "nir"] };
  expect(attributesOf(point)).toEqual([
    ["b1", "1363.2"],
    ["nir", "no data"],
    ["longitude, latitude", "7.2, 46.9"],
  ]);
});

it("lists a histogram by its values, and leaves a text of this name alone", () => {
  const cell = { mean: 2, histogram: '{"1 to 2":3.25000000001,"2 to 3":1}' };
  expect(attributesOf(cell)).toEqual([
    ["mean", "2"],
    ["histogram: 1 to 2", "3.25"],
    ["histogram: 2 to 3", "1"],
  ]);
  expect(attributesOf({ histogram: "none {" })).toEqual([["histogram", "none {"]]);
});
