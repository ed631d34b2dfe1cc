import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture } from "../../../test/support/fixtures.ts";
import { measureShift } from "../../core/catalogue/datum-shift.ts";
import { describeCrs, horizontalWkt, isWebMercator, meaningOf } from "../../core/raster/crs.ts";
import { parseGdalInfo } from "../../core/raster/parse-info.ts";
import { imageVrt } from "../../core/raster/vrt.ts";
import { createGdal } from "../gdal/create-gdal.ts";
import type { Gdal } from "../gdal/gdal.ts";
import { makeProjection } from "./projection.ts";

/** Places in systems of every kind, by PROJ; `test/fixtures/families/make.py` wrote them. */
const places = JSON.parse(readFileSync(fixture("families/places.json"), "utf8")) as {
  code: string;
  wkt2: string;
  lon: number;
  lat: number;
  x: number;
  y: number;
  near: [lon: number, lat: number, x: number, y: number];
}[];

type Degrees = readonly [number, number];

function metresApart(a: Degrees | undefined, b: Degrees): number {
  if (a === undefined) return Infinity;
  const turn = 360 * Math.round((a[0] - b[0]) / 360);
  const east = (a[0] - turn - b[0]) * 111_320 * Math.cos((b[1] * Math.PI) / 180);
  return Math.hypot(east, (a[1] - b[1]) * 111_320);
}

it.each(places)("$code is where PROJ has it, by its definition alone", (place) => {
  const { wkt2, lon, lat, x, y, near } = place;
  const plain = makeProjection(undefined, wkt2);
  const meaning = meaningOf({ code: null, name: "", wkt2 })!;
  const shift = measureShift(plain.toDegrees(x, y)!, meaning, [lon, lat]);
  const { toDegrees, fromDegrees } = makeProjection(undefined, wkt2, shift);
  // The library's table for Robinson is coarser than PROJ's.
  expect(metresApart(toDegrees(x, y), [lon, lat])).toBeLessThan(0.3);
  const [u, v] = fromDegrees(near[0], near[1])!;
  expect(metresApart(toDegrees(u, v), [near[0], near[1]])).toBeLessThan(0.01);
  // A datum shift is measured at the first place, 30 km away.
  expect(metresApart(toDegrees(near[2], near[3]), [near[0], near[1]])).toBeLessThan(2.5);
});

/** Geographic and projected, northing first, west and south, degrees and grads, feet, poles. */
const kinds = [4326, 4674, 4269, 4807, 32618, 2193, 3035, 31467, 5513, 2053, 2263, 3031, 3857];

describe("a virtual raster", () => {
  let gdal: Gdal;
  let workDir: string;
  beforeAll(async () => {
    gdal = await createGdal();
    workDir = await mkdtemp(path.join(tmpdir(), "rmhdag-axes-"));
  });
  afterAll(() => rm(workDir, { recursive: true, force: true }));

  it.each(kinds)("in EPSG:%i lies where PROJ has its corner", async (number) => {
    const { wkt2, lon, lat, x, y } = places.find(({ code }) => code === `EPSG:${number}`)!;
    const step = Math.abs(x) > 1000 ? 1 : 1e-5;
    const file = path.join(workDir, `${number}.vrt`);
    const transform = [step, 0, x, 0, -step, y] as const;
    const frame = { width: 2, height: 2, transform: [...transform] as never, wkt2 };
    const bands = [{ sourceBand: 1 }];
    const given = { source: path.join(workDir, "none.tif"), bands, alpha: undefined };
    await writeFile(file, imageVrt({ ...frame, ...given }));
    const options = { workDir, drivers: ["VRT", "GTiff"] };
    const { stdout } = await gdal.run("gdalinfo", ["-json", "-nomd", file], options);
    const [corner] = parseGdalInfo(stdout)!.wgs84Ring!;
    // PROJ may use another transformation of the datum than the version that wrote the places.
    expect(metresApart(corner, [lon, lat])).toBeLessThan(30);
  });
});

describe("a system", () => {
  const arcgis =
    'PROJCRS["WGS 84 / Pseudo-Mercator",BASEGEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]]],CONVERSION["unnamed",METHOD["Popular Visualisation Pseudo Mercator"],PARAMETER["Latitude of natural origin",0],PARAMETER["False easting",0]],CS[Cartesian,2],AXIS["easting",east],AXIS["northing",north],LENGTHUNIT["metre",1]]';

  it("that is web Mercator without a code is found by its meaning", () => {
    expect(isWebMercator(arcgis)).toBe(true);
    expect(describeCrs(arcgis)!.code).toBe("EPSG:3857");
    const [lon, lat] = makeProjection(undefined, arcgis).toDegrees(1e6, 6e6)!;
    expect([lon, lat]).toEqual([
      expect.closeTo(8.983_152_841, 8) as number,
      expect.closeTo(47.353_704_702, 8) as number,
    ]);
  });

  it("with heights has not the code of its horizontal part", () => {
    const flat = places.find(({ code }) => code === "EPSG:28992")!.wkt2;
    const whole = `COMPOUNDCRS["RD + NAP",${flat},VERTCRS["NAP height",VDATUM["NAP"],CS[vertical,1],AXIS["height",up],LENGTHUNIT["metre",1]]]`;
    expect(describeCrs(whole)!.code).toBeNull();
    expect(describeCrs(horizontalWkt(whole))!.code).toBe("EPSG:28992");
    expect(makeProjection(undefined, whole).toDegrees(155_000, 463_000)![0]).toBeCloseTo(5.387, 2);
  });
});
