import { describe, expect, it } from "vitest";
import { checkRefs } from "./check-refs.ts";
import { isBelow, sourcePrefixesOf } from "./preflight.ts";
import { partnerResult, readOutputs } from "./read-outputs.ts";

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
      // Of the job that this one runs again.
      kept: "silver/0123456789abcdef0123456789abcdef/create_cog/a.tif",
      log: "made by j1",
      list: [{ task_id: "j1_a_0", keep: 1 }],
      j1: true,
    };
    expect(partnerResult(result, "j1", "request-7")).toEqual({
      path: null,
      kept: null,
      log: "made by request-7",
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
    "/vsizip/bronze/ddh/a.zip/a.tif",
    "x/bronze/ddh/a.tif",
  ])("do not take %s", (display) => {
    expect(isBelow(display, own)).toBe(false);
  });

  it("are its own folder where none is named", () => {
    expect(isBelow("bronze/ddh/a.tif", [])).toBe(false);
    const ddh = sourcePrefixesOf({ platform_id: "ddh", source_prefixes: [] });
    expect(ddh).toEqual(["bronze/ddh"]);
    expect(sourcePrefixesOf({ platform_id: "ddh", source_prefixes: ["bronze/x"] })).toEqual([
      "bronze/x",
    ]);
  });
});
