import { describe, expect, it } from "vitest";
import { checkRefs } from "./check-refs.ts";
import { isBelow, isCrs } from "./preflight.ts";
import { partnerResult, readOutputs } from "./read-outputs.ts";

describe("a CRS", () => {
  it.each([
    "EPSG:4326",
    "OGC:CRS84",
    "ESRI:102100",
    "+proj=utm +zone=32",
    'PROJCS["UTM zone 32N",GEOGCS["WGS 84"]]',
    'GEOGCRS["WGS 84"]',
  ])("may be %s", (text) => {
    expect(isCrs(text)).toBe(true);
  });

  it.each(["4326", "EPSG 4326", "", "EPSG:", "WGS84; DROP TABLE x"])("is not %s", (text) => {
    expect(isCrs(text)).toBe(false);
  });
});

describe("references", () => {
  const platform = { required_refs: ["a"], optional_refs: ["b"], version_ref: "v" };

  it("that are declared make the identity, and the version is none of it", () => {
    expect(checkRefs(platform, { a: "1", b: 2, v: "V1" })).toEqual({
      identity: { a: "1", b: 2 },
      label: "V1",
      findings: [],
    });
  });

  it("are found wrong all at once", () => {
    const { findings } = checkRefs(platform, { b: 2 ** 60, c: 1, v: 7 });
    expect(findings.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      "/platform_refs/a REF_MISSING",
      "/platform_refs/b REF_AMBIGUOUS",
      "/platform_refs/c REF_UNKNOWN",
      "/platform_refs/v REF_INVALID",
    ]);
  });

  it("named like parts of an object are plain names", () => {
    const { findings } = checkRefs(platform, JSON.parse('{"a": "1", "__proto__": 1}') as never);
    expect(findings).toMatchObject([{ code: "REF_UNKNOWN" }]);
    expect(checkRefs(platform, {}).findings).toMatchObject([{ code: "REF_MISSING" }]);
  });
});

describe("a job's result", () => {
  it("names its outputs, under the catalogue's own names too", () => {
    expect(readOutputs({ blob_path: "silver/a.tif", item_id: "i", collection_id: "c" })).toEqual({
      blob_path: "silver/a.tif",
      table_name: null,
      stac_collection_id: "c",
      stac_item_id: "i",
      content_hash: null,
    });
  });

  it("is shown to the platform without anything of ours", () => {
    const result = {
      _provenance: { job_id: "j1" },
      path: "silver/j1/a.tif",
      list: [{ task_id: "j1_a_0", keep: 1 }],
      j1: true,
    };
    expect(partnerResult(result, "j1", "request-7")).toEqual({
      path: "silver/request-7/a.tif",
      list: [{ keep: 1 }],
      "request-7": true,
    });
  });
});

const own = ["bronze/ddh", "https://data.example.org/ddh/", "/mnt/ddh"];

describe("the places of a platform", () => {
  it.each([
    "bronze/ddh/a.tif",
    "bronze/ddh/deep/a.tif",
    "https://data.example.org/ddh/a.tif",
    "/mnt/ddh/a.tif",
    "/vsizip/bronze/ddh/a.zip/a.tif",
    "/vsizip//vsitar/bronze/ddh/a.tar/b.zip/a.tif",
  ])("take %s", (display) => {
    expect(isBelow(display, own)).toBe(true);
  });

  it.each([
    "bronze/ddh2/a.tif",
    "bronze/a.tif",
    "silver/ddh/a.tif",
    "https://data.example.org/other/a.tif",
    "https://data.example.org.evil.org/ddh/a.tif",
    "https://data.example.org/ddh/..%2Fother/a.tif",
    "/mnt/ddh/../other/a.tif",
    "/mnt/ddh2/a.tif",
    "/vsizip/bronze/other/a.zip/bronze/ddh/a.tif",
    "x/bronze/ddh/a.tif",
  ])("do not take %s", (display) => {
    expect(isBelow(display, own)).toBe(false);
  });

  it("are everywhere where none is named", () => {
    expect(isBelow("silver/a.tif", [])).toBe(true);
  });
});
