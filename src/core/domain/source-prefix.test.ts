import { describe, expect, it } from "vitest";
import { isBelow } from "./source-prefix.ts";

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
