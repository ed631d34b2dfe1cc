import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../model/json.ts";
import { assetIdOf, ambiguousNumbers, canonicalJson } from "./asset-id.ts";

const sha256 = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");

/** Recorded from Python: `hashlib.sha256(f"{p}|{json.dumps(r, sort_keys=True)}".encode())`. */
const recorded: readonly (readonly [string, JsonObject, string])[] = [
  ["ddh", { dataset_id: "0038272", resource_id: "shapefile" }, "a9234e9e7b1ae7c5151568522b54db33"],
  ["ddh", { dataset_id: "birds2023", resource_id: "viewer" }, "cec8c76465ad396b9bc05ca782965519"],
  [
    "ddh",
    { resource_id: "F\u00fc\u00dfe & V\u00f6gel", dataset_id: "donn\u00e9es/\u00e9" },
    "1b4e879af602d4dbd23edfd3070dd1be",
  ],
  [
    "ddh",
    { dataset_id: "\u65e5\u672c\u8a9e", resource_id: "\ud83d\ude00 emoji" },
    "651e2e12ae83a57192552a25c6e8101d",
  ],
  ["arcgis", { item_id: "a1b2", layer_index: 0 }, "c0e5d6bc056e6755e4f9724f79287c08"],
  ["arcgis", { item_id: "a1b2", layer_index: -17 }, "00eed6c8ad0ccae65a23b3374d021356"],
  [
    "arcgis",
    { item_id: "a1b2", layer_index: 9007199254740991 },
    "2fb13db88c958a969a2ad63b37f8041b",
  ],
  ["geonode", { uuid: "6f1c2d1e-0000-4000-8000-000000000001" }, "ebca13510fdf3b48b543e3e7558d7d79"],
  [
    "custom",
    { nested: { z: [1, 2.5, null], a: { "\u00e9": true, b: false } }, n: 0.1 },
    "b7665fcac066756d2463db304dd94fea",
  ],
  ["custom", { f: 1e-5, g: 1.5e-7, h: 123456.789, i: -0.25 }, "91f773fa8a20bbc783f3393c1a958cb5"],
  ["custom", { "\uffff": 1, "\ud800\udc00": 2 }, "6f36c674709d70dff98875b628910117"],
  [
    "custom",
    { text: 'quote " back \\ tab \t nl \n del \u007f' },
    "cdd1f13bc9caf09c9a03718da01f3aa5",
  ],
  ["custom", { empty: {}, list: [], t: "" }, "37b82484fbf053fd416f93dbafe2a2f8"],
];

describe("an asset's id", () => {
  it.each(recorded)("is Python's for %s %j", (platform, refs, id) => {
    expect(assetIdOf(platform, refs, sha256)).toBe(id);
  });

  it("does not depend on the order in which the references were sent", () => {
    const one = assetIdOf("ddh", { dataset_id: "a", resource_id: "b" }, sha256);
    expect(assetIdOf("ddh", { resource_id: "b", dataset_id: "a" }, sha256)).toBe(one);
  });

  it("depends on the platform and on every reference", () => {
    const ids = [
      assetIdOf("ddh", { a: "1" }, sha256),
      assetIdOf("arcgis", { a: "1" }, sha256),
      assetIdOf("ddh", { a: 1 }, sha256),
      assetIdOf("ddh", { b: "1" }, sha256),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("canonical JSON", () => {
  // Each as Python writes it: json.dumps(value, sort_keys=True).
  it.each<[Json, string]>([
    [0.1, "0.1"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [0.000012345, "1.2345e-05"],
    [1.5e-7, "1.5e-07"],
    [5e-324, "5e-324"],
    [-2.5, "-2.5"],
    [123456789.125, "123456789.125"],
    [9007199254740991, "9007199254740991"],
    [true, "true"],
    [null, "null"],
    [[], "[]"],
    [{}, "{}"],
    ["\u007f\u0000\u001f/<>&", String.raw`"\u007f\u0000\u001f/<>&"`],
    ['a"b\\c\n\r\t\b\f', String.raw`"a\"b\\c\n\r\t\b\f"`],
    ["é😀", String.raw`"\u00e9\ud83d\ude00"`],
    [{ "\uffff": 1, "\u{10000}": 2 }, String.raw`{"\uffff": 1, "\ud800\udc00": 2}`],
    [[1, { b: [true, null], a: "x" }], '[1, {"a": "x", "b": [true, null]}]'],
  ])("writes %j as %s", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it("finds the numbers that Python may have written otherwise", () => {
    const refs = JSON.parse(
      '{"a": 1e16, "b": [-0.0, 12345678901234567890], "c": {"d/e": 1e300}, "f": 1.5, "g": 7}',
    ) as JsonObject;
    expect(ambiguousNumbers(refs)).toEqual(["/a", "/b/0", "/b/1", "/c/d~1e"]);
  });

  it("refuses to write one of them", () => {
    expect(() => canonicalJson(-0)).toThrow(RangeError);
    expect(() => canonicalJson(2 ** 53)).toThrow(RangeError);
  });
});
