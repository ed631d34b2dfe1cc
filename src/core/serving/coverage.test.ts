import { describe, expect, it } from "vitest";
import { coveredParts, findExtent, toBounds, toOwnLongitude } from "./coverage.ts";
import { computeStatistics, spread } from "./statistics.ts";
import { makeTileJson } from "./tilejson.ts";
import { halfWorld, tileBox, toMercator } from "./web-mercator.ts";

const same = (x: number, y: number) => [x, y] as const;
const degrees = (west: number, north: number, size: number) => ({
  width: 100,
  height: 100,
  toCoordinates: [size / 100, 0, west, 0, -size / 100, north] as const,
  toPixels: [100 / size, 0, (-west * 100) / size, 0, -100 / size, (north * 100) / size] as const,
  toDegrees: same,
  fromDegrees: same,
  isStraight: true,
});

describe("the extent of a raster", () => {
  it("is that of its edge", () => {
    expect(findExtent(degrees(10, 50, 5))).toMatchObject({
      west: 10,
      south: 45,
      east: 15,
      north: 50,
    });
  });

  it("runs on past the antimeridian, and is folded only for clients", () => {
    const extent = findExtent({
      ...degrees(178, 0, 4),
      toDegrees: (x, y) => [x > 180 ? x - 360 : x, y],
    })!;
    expect(extent).toMatchObject({ west: 178, south: -4, east: 182, north: 0 });
    expect(toBounds(extent)).toEqual([178, -4, -178, 0]);
  });

  it("counts as the raster does, from 0 to 360 degrees too", () => {
    const extent = findExtent(degrees(200, 10, 20))!;
    expect(extent).toMatchObject({ west: 200, east: 220 });
    expect(toBounds(extent)).toEqual([-160, -10, -140, 10]);
    expect(toOwnLongitude(extent, -150)).toBe(210);
    expect(toOwnLongitude(extent, 150)).toBeUndefined();
    expect(toBounds(findExtent({ ...degrees(0, 90, 360), height: 50 })!)).toEqual([
      -180, -90, 180, 90,
    ]);
  });

  it("reaches the pole that lies inside", () => {
    const polar = findExtent({
      width: 2,
      height: 2,
      toCoordinates: [1, 0, -1, 0, -1, 1],
      toPixels: [1, 0, 1, 0, -1, 1],
      toDegrees: (x, y) => [(Math.atan2(x, -y) * 180) / Math.PI, 90 - 10 * Math.hypot(x, y)],
      isStraight: false,
      fromDegrees: (_lon, lat) => (lat === 90 ? [0, 0] : [99, 99]),
    });
    expect(polar).toMatchObject({ west: -180, east: 180, north: 90 });
  });
});

describe("the covered part of a tile", () => {
  const extent = { west: 178, south: -4, east: 182, north: 0, isStraight: true };

  it("is in two pieces on the tile of the whole world", () => {
    const [right, left] = coveredParts(tileBox({ z: 0, x: 0, y: 0 }), extent);
    expect(right!.shift).toBe(0);
    expect(right!.box[2]).toBe(halfWorld);
    expect(left!.shift).toBe(2 * halfWorld);
    expect(left!.box[0]).toBe(-halfWorld);
    expect(left!.box[2]).toBeCloseTo(toMercator(-178, 0)[0], -5);
  });

  it("is nothing where the raster is not", () => {
    expect(coveredParts(tileBox({ z: 3, x: 4, y: 1 }), extent)).toEqual([]);
  });
});

it("makes TileJSON that clients can read, also across the antimeridian", () => {
  const made = makeTileJson({
    title: "t",
    address: "/{z}",
    bounds: [178, -90, -178, 0],
    minZoom: 2,
    maxZoom: 9,
  });
  expect(made.bounds[0]).toBe(-180);
  expect(made.bounds[2]).toBe(180);
  expect(made.bounds[1]).toBeCloseTo(-85.0511, 3);
  expect(Math.abs(made.center[0])).toBe(180);
});

describe("statistics", () => {
  const mask = new Uint8Array([255, 255, 255, 255, 0]);

  it("count only what is valid", () => {
    const found = computeStatistics(new Float32Array([1, 2, 3, NaN, 99]), mask);
    expect(found).toMatchObject({
      min: 1,
      max: 3,
      mean: 2,
      sum: 6,
      count: 3,
      median: 2,
      valid_percent: 60,
    });
    expect(found.std).toBeCloseTo(Math.sqrt(2 / 3), 12);
    expect(found.histogram[0].reduce((sum, each) => sum + each, 0)).toBe(3);
    expect(found.histogram[1].length).toBe(11);
  });

  it("say nothing of nothing", () => {
    expect(computeStatistics(new Uint8Array(2), new Uint8Array(2))).toMatchObject({
      min: null,
      count: 0,
    });
  });

  it("give a range also for a flat layer", () => {
    const full = new Uint8Array(100).fill(255);
    const range = (band: Float32Array) =>
      spread({ width: 10, height: 10, bands: [band], mask: full })[0];
    expect(range(new Float32Array(100).fill(7))).toEqual([6, 8]);
    expect(range(new Float32Array(100).fill(7).fill(9, 99))).toEqual([7, 9]);
    expect(range(Float32Array.from({ length: 100 }, (_, index) => index))![0]).toBeCloseTo(1.98, 5);
  });
});
