import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findOnlyGrid, liesOnItsSide, placeOnSide, turnTransform } from "./place-array.ts";
import { placeHdfEos } from "./place-hdf-eos.ts";

const axis = (unit: string, ...values: number[]) => ({ name: "", unit, values });

describe("an array on its side", () => {
  it("is known by the units of its dimensions, or by their names where they have none", () => {
    const [lon, lat] = [axis("degrees_east"), axis("degrees_north")];
    expect(liesOnItsSide(lon, lat)).toBe(true);
    expect(liesOnItsSide(lat, lon)).toBe(false);
    const named = (name: string) => ({ name, unit: "" });
    expect(liesOnItsSide(named("Longitude"), named("lat"))).toBe(true);
    expect(liesOnItsSide(named("x"), named("y"))).toBe(false);
    expect(liesOnItsSide(undefined, lat)).toBe(false);
  });

  it("lies north up between the outer edges of its pixels, whatever comes first", () => {
    const west = axis("degrees_east", 10, 12, 14);
    const south = axis("degrees_north", -1, 0);
    const transform = [2, 0, 9, 0, -1, 0.5];
    expect(placeOnSide(west, south)).toEqual({
      transform,
      crs: undefined,
      turn: { fromWest: true, fromSouth: true },
    });
    const turned = { fromWest: false, fromSouth: false };
    const east = axis("", ...west.values.toReversed());
    const north = axis("", ...south.values.toReversed());
    expect(placeOnSide(east, north)).toMatchObject({ transform, turn: turned });
    // The first pixel, in the first row and column, is the one in the north and east.
    expect(turnTransform(2, 3, turned)).toEqual([0, -1, 3, -1, 0, 2]);
  });

  it("has no place where its coordinates are not evenly spaced", () => {
    const even = axis("", 0, 1, 2);
    expect(placeOnSide(axis("", 0, 1, 3), even)).toBeUndefined();
    expect(placeOnSide(axis("", 0), even)).toBeUndefined();
    expect(placeOnSide(axis("", 5, 5), even)).toBeUndefined();
  });
});

it("finds the only array that can be a grid, in its group", () => {
  const grid = { arrays: { lat: { dimension_size: [9] }, rain: { dimension_size: [1, 9, 9] } } };
  const file = { type: "group", groups: { Grid: grid } };
  expect(findOnlyGrid(JSON.stringify(file))).toBe("Grid/rain");
  const two = { ...file, arrays: { snow: { dimension_size: [9, 9] } } };
  expect(findOnlyGrid(JSON.stringify(two))).toBeUndefined();
  expect(findOnlyGrid("no JSON")).toBeUndefined();
});

describe("a grid of HDF-EOS5", () => {
  const file = new URL("../../../test/fixtures/families/viirs_sinusoidal.h5", import.meta.url);
  const bytes = readFileSync(file).toString("latin1");
  const start = bytes.indexOf("GROUP=SwathStructure");
  const metadata = bytes.slice(start, bytes.indexOf("\nEND\n", start));
  const name = "HDFEOS/GRIDS/VNP_Grid_1km_2D/Data Fields/SurfReflect_M1_1";

  it("has the place that the file says", () => {
    expect(placeHdfEos(metadata, name)).toMatchObject({
      transform: [
        expect.closeTo(92662.543, 3),
        0,
        -8895604.157333,
        0,
        expect.closeTo(-92662.543, 3),
        4447802.078667,
      ],
      crs: "+proj=sinu +lon_0=0 +x_0=0 +y_0=0 +R=6371007.181 +units=m +no_defs",
    });
  });

  it.each([
    ["GridOrigin=HE5_HDFE_GD_UL", "GridOrigin=HE5_HDFE_GD_LL", "upper left"],
    ['("YDim","XDim")', '("XDim","YDim")', "upper left"],
    ["HE5_GCTP_SNSOID", "HE5_GCTP_HOM", "HE5_GCTP_HOM of HDF-EOS5 is not known"],
    ["XDim=12", "XDim=0", "does not say where"],
    ["UpperLeftPointMtrs=(-8", "UpperLeftPointMtrs=(8", "not in order"],
    ['GridName="VNP_Grid_1km', 'GridName="Other', "does not describe"],
  ])("with %s changed to %s is refused with the reason", (from, to, reason) => {
    expect(placeHdfEos(metadata.replaceAll(from, to), name)).toContain(reason);
  });
});
