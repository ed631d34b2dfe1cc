import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { RasterBand, RasterPolicy } from "./facts.ts";
import type { InspectedRaster } from "./inspected.ts";
import { describeCrs } from "./crs.ts";
import { arrayRemedy, bitDepthRemedies, rasterFindings } from "./finding.ts";
import { judgeRaster } from "./judge.ts";

const utm = describeCrs(
  'PROJCRS["WGS 84 / UTM zone 18N",BASEGEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563,LENGTHUNIT["metre",1]]]],CONVERSION["UTM zone 18N",METHOD["Transverse Mercator"],PARAMETER["Longitude of natural origin",-75,ANGLEUNIT["degree",0.0174532925199433]],PARAMETER["False easting",500000,LENGTHUNIT["metre",1]]],CS[Cartesian,2],LENGTHUNIT["metre",1],ID["EPSG",32618]]',
)!;
const degrees = describeCrs(
  'GEOGCRS["WGS 84",ENSEMBLE["World Geodetic System 1984 ensemble",ELLIPSOID["WGS 84",6378137,298.257223563]],CS[ellipsoidal,2],ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",4326]]',
)!;
const mars = describeCrs(
  'GEOGCRS["Mars 2000",DATUM["D_Mars_2000",ELLIPSOID["Mars_2000",3396190,169.894447224]],CS[ellipsoidal,2]]',
)!;

function band(given: Partial<RasterBand> = {}): RasterBand {
  return {
    name: "b1",
    description: null,
    data_type: "float32",
    color: "gray",
    nodata: -9999,
    unit: null,
    scale: null,
    offset: null,
    statistics: { minimum: 1, maximum: 500.5, mean: 250, stddev: 100, valid_percent: 100 },
    sample: {
      percentile_2: 10,
      percentile_98: 490,
      distinct: 1000,
      whole: false,
      nan_share: 0,
      lowest: 1,
      lowest_share: 0.0001,
    },
    ...given,
  };
}

function raster(given: Partial<InspectedRaster> = {}): InspectedRaster {
  return {
    driver: "GTiff",
    bytes: 1000,
    width: 100,
    height: 100,
    crs: utm,
    transform: [30, 0, 500_000, 0, -30, 4_000_000],
    gcpCount: 0,
    areGcpsOnLine: false,
    localSystem: null,
    timeSpan: null,
    sampleBits: null,
    furtherImages: [],
    classes: [],
    lacksPalette: false,
    hasRpc: false,
    bands: [band()],
    hasPalette: false,
    transparency: "nodata",
    overviews: [],
    blockSize: [100, 100],
    compression: null,
    sampling: "area",
    datetime: null,
    wgs84Ring: null,
    isCog: false,
    isWholeCog: false,
    readErrors: [],
    ...given,
  };
}

const policy: RasterPolicy = {
  tier: "analysis",
  givenCrs: null,
  strict: false,
  rasterType: undefined,
  allowDowncast: false,
  maxNodataPercent: 99,
  nodata: undefined,
};

const statistics = (given: object) => ({
  minimum: 0,
  maximum: 100,
  mean: 50,
  stddev: 10,
  valid_percent: 100,
  ...given,
});
const sample = (given: object) => ({ ...band().sample!, ...given });
const one = (given: Partial<RasterBand>) => ({ bands: [band(given)] });

const cases: [string, Partial<InspectedRaster>, Partial<RasterPolicy>, string[]][] = [
  ["a good raster", {}, {}, []],
  ["an unreadable block", { readErrors: ["block 3"] }, {}, ["FILE_CORRUPTED"]],
  ["no CRS", { crs: null }, {}, ["CRS_MISSING"]],
  ["no CRS, one given", { crs: null }, { givenCrs: utm }, ["CRS_OVERRIDE"]],
  ["another CRS given", {}, { givenCrs: degrees }, ["CRS_MISMATCH"]],
  ["the same CRS given without its code", {}, { givenCrs: { ...utm, code: null } }, []],
  ["a CRS without code", { crs: { ...utm, code: null } }, {}, ["CRS_WITHOUT_CODE"]],
  [
    "another planet",
    { crs: mars, transform: [0.1, 0, 10, 0, -0.1, 20] },
    {},
    ["CRS_NOT_EARTH", "CRS_WITHOUT_CODE"],
  ],
  ["no grid", { transform: null }, {}, ["GEOTRANSFORM_MISSING"]],
  ["the identity for a grid", { transform: [1, 0, 0, 0, 1, 0] }, {}, ["GEOTRANSFORM_MISSING"]],
  ["pixels without area", { transform: [0, 0, 5, 0, 0, 5] }, {}, ["GEOTRANSFORM_MISSING"]],
  ["control points only", { transform: null, gcpCount: 4 }, {}, ["GCPS_ONLY"]],
  ["RPC only", { transform: null, hasRpc: true }, {}, ["GCPS_ONLY"]],
  ["a rotated grid", { transform: [30, 5, 5e5, 5, -30, 4e6] }, {}, ["NOT_NORTH_UP"]],
  ["south up", { transform: [30, 0, 5e5, 0, 30, 4e6] }, {}, ["NOT_NORTH_UP"]],
  ["an easting of 3,000 km", { transform: [30, 0, 3e6, 0, -30, 4e6] }, {}, ["SUSPICIOUS_BOUNDS"]],
  [
    "a latitude of 200",
    { crs: degrees, transform: [1, 0, 0.5, 0, -1, 200] },
    {},
    ["SUSPICIOUS_BOUNDS"],
  ],
  [
    "longitudes beyond 180",
    { crs: degrees, transform: [0.1, 0, 175, 0, -0.1, 20] },
    {},
    ["CROSSES_ANTIMERIDIAN"],
  ],
  [
    "corners on both sides of 180°",
    {
      wgs84Ring: [
        [179, 1],
        [179, 0],
        [-179, 0],
        [-179, 1],
      ],
    },
    {},
    ["CROSSES_ANTIMERIDIAN"],
  ],
  ["64 bits", one({ data_type: "float64" }), {}, ["BIT_DEPTH_POLICY_VIOLATION"]],
  [
    "64 bits to be 32",
    one({ data_type: "float64" }),
    { allowDowncast: true },
    ["BIT_DEPTH_DOWNCAST"],
  ],
  [
    "64 bits that 32 cannot hold",
    one({ data_type: "int64", statistics: statistics({ maximum: 2 ** 40 }) }),
    { allowDowncast: true },
    ["BIT_DEPTH_POLICY_VIOLATION"],
  ],
  [
    "complex numbers, always",
    one({ data_type: "cfloat32" }),
    { allowDowncast: true },
    ["BIT_DEPTH_POLICY_VIOLATION"],
  ],
  [
    "classes in floating point",
    one({ statistics: statistics({}), sample: sample({ whole: true, distinct: 12 }) }),
    {},
    ["INEFFICIENT_BIT_DEPTH"],
  ],
  ["nothing but nodata", one({ statistics: null }), {}, ["RASTER_EMPTY"]],
  ["99.5 % nodata", one({ statistics: statistics({ valid_percent: 0.5 }) }), {}, ["RASTER_EMPTY"]],
  [
    "99.5 % nodata where that is meant",
    one({ statistics: statistics({ valid_percent: 0.5 }) }),
    { maxNodataPercent: 100 },
    ["RASTER_SPARSE"],
  ],
  ["95 % nodata", one({ statistics: statistics({ valid_percent: 5 }) }), {}, ["RASTER_SPARSE"]],
  ["nodata among the data", one({ nodata: 50 }), {}, ["NODATA_IN_DATA_RANGE"]],
  [
    "nodata among the data, strictly",
    one({ nodata: 50 }),
    { strict: true },
    ["RASTER_NODATA_CONFLICT"],
  ],
  [
    "an unset nodata of 3.4e38",
    one({ nodata: null, statistics: statistics({ maximum: 3.4e38 }) }),
    {},
    ["RASTER_EXTREME_VALUES"],
  ],
  [
    "an unset nodata of −3.4e38",
    one({ nodata: null, statistics: statistics({ minimum: -3.4e38 }) }),
    {},
    ["VERY_NEGATIVE_VALUES"],
  ],
  [
    "−9999 without a declaration",
    {
      transparency: "none",
      ...one({ nodata: null, sample: sample({ lowest: -9999, lowest_share: 0.2 }) }),
    },
    {},
    ["NODATA_NOT_DECLARED"],
  ],
  [
    "a nodata value that bytes cannot hold",
    one({ data_type: "uint8", nodata: -10_000 }),
    {},
    ["NODATA_NOT_REPRESENTABLE"],
  ],
  [
    "NaN without nodata",
    one({ nodata: null, sample: sample({ nan_share: 0.1 }) }),
    {},
    ["NAN_WITHOUT_NODATA"],
  ],
  [
    "nodata and alpha",
    { bands: [band(), band({ name: "b2", color: "alpha", nodata: null })] },
    {},
    ["NODATA_AND_ALPHA"],
  ],
  [
    "a palette",
    { hasPalette: true, ...one({ data_type: "uint8", nodata: null }) },
    {},
    ["PALETTE"],
  ],
  ["another kind than declared", {}, { rasterType: "rgb" }, ["RASTER_TYPE_MISMATCH"]],
  ["a compatible kind", {}, { rasterType: "flood_depth" }, []],
  ["a good COG", { isCog: true, isWholeCog: true }, {}, ["ALREADY_COG"]],
];

describe("judging a raster", () => {
  it.each(cases)("%s", (_, given, wanted, codes) => {
    const { findings } = judgeRaster(raster(given), { ...policy, ...wanted });
    expect(findings.map(({ code }) => code)).toEqual(codes);
  });

  it("takes 16-bit imagery as it is for analysis, and scales it for looking at", () => {
    const bands = ["red", "green", "blue"].map((color) =>
      band({ color, data_type: "uint16", nodata: 0 }),
    );
    const judge = (tier: RasterPolicy["tier"]) =>
      judgeRaster(raster({ bands }), { ...policy, tier });
    expect([judge("analysis").verdict, judge("visualization").verdict]).toEqual([
      "green",
      "warning",
    ]);
  });

  it("names everything at once, the worst first", () => {
    const { verdict, findings } = judgeRaster(
      raster({ crs: null, transform: [30, 5, 5e5, 5, -30, 4e6], ...one({ data_type: "float64" }) }),
      policy,
    );
    expect(verdict).toBe("rejected");
    expect(findings.map(({ severity }) => severity)).toEqual(["reject", "reject", "fix"]);
  });
});

it.each([
  ["m", "dem"],
  [null, "dem"],
  ["unknown", "dem"],
  ["m3/m3", "continuous"],
  ["K", "continuous"],
])("takes a smooth band in %s for %s", (unit, type) => {
  expect(judgeRaster(raster(one({ unit })), policy).rasterType).toBe(type);
});

it("does not advise allow_downcast where it has no effect", () => {
  const remedyOf = (given: Partial<RasterBand>, allowDowncast: boolean) =>
    judgeRaster(raster(one(given)), { ...policy, allowDowncast }).findings[0]?.remedy;
  const huge = { data_type: "uint64", statistics: statistics({ maximum: 2 ** 60 }) } as const;
  expect(remedyOf(huge, false)).toContain("submit with allow_downcast");
  expect(remedyOf(huge, true)).toBe(bitDepthRemedies.tooLarge);
  expect(remedyOf({ data_type: "cfloat32" }, false)).toBe(bitDepthRemedies.complex);
  expect(remedyOf({ data_type: "cfloat32" }, true)).toBe(bitDepthRemedies.complex);
});

it("every code is explained to users, with its remedy", async () => {
  const page = await readFile(new URL("../../../docs/raster.md", import.meta.url), "utf8");
  const missing = Object.entries(rasterFindings).filter(
    ([code, [severity, remedy]]) =>
      !page.includes(`\`${code}\``) || !page.includes(severity) || !page.includes(remedy),
  );
  expect(missing).toEqual([]);
  const others = [...Object.values(bitDepthRemedies), arrayRemedy];
  expect(others.filter((remedy) => !page.includes(remedy))).toEqual([]);
});
