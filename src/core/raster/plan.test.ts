import { describe, expect, it } from "vitest";
import { isCrsText, describeCrs, isEarth, isSameCrs } from "./crs.ts";
import { judgeHeader } from "./header.ts";
import { chooseProfile, toCreationOptions } from "./profile.ts";
import type { ProfileRequest } from "./profile.ts";
import { summariseSample } from "./sample.ts";
import { cutTiles, tileSide, windowBounds } from "./tiling.ts";
import { hasServableBlocks } from "./tiff-structure.ts";
import type { TiffImage, TiffStructure } from "./tiff-structure.ts";

describe("the profile of a COG", () => {
  const all = new Set(["deflate", "jpeg", "webp", "zstd"]);
  const choose = (given: Partial<ProfileRequest>) =>
    chooseProfile({
      tier: "analysis",
      rasterType: "dem",
      dataType: "float32",
      codecs: all,
      hasPalette: false,
      ...given,
    });

  it.each([
    ["terrain", {}, "deflate", 3, "bilinear", "average"],
    ["imagery", { rasterType: "rgb", dataType: "uint8" }, "deflate", 2, "cubic", "average"],
    ["classes", { rasterType: "categorical", dataType: "uint8" }, "deflate", 1, "nearest", "mode"],
    [
      "imagery for looking at",
      { rasterType: "rgb", dataType: "uint16", tier: "visualization" },
      ...(["jpeg", 1, "cubic", "average"] as const),
    ],
    [
      "a palette for looking at",
      { rasterType: "categorical", dataType: "uint8", hasPalette: true, tier: "visualization" },
      ...(["deflate", 1, "nearest", "nearest"] as const),
    ],
  ] as const)("of %s", (_, given, compression, predictor, warpResampling, overviewResampling) => {
    expect(choose(given)).toMatchObject({
      compression,
      predictor,
      warpResampling,
      overviewResampling,
    });
  });

  it("uses no codec that GDAL does not have", () => {
    const given = { rasterType: "rgb", dataType: "uint8", tier: "visualization" } as const;
    expect(choose({ ...given, codecs: new Set(["deflate"]) }).compression).toBe("deflate");
  });

  it("asks for no overviews of what is smaller than a block", () => {
    const options = (side: number) =>
      toCreationOptions(choose({}), { threads: 2, addAlpha: false, size: [side, side] });
    expect(options(512)).toContain("OVERVIEWS=NONE");
    expect(options(513)).toContain("OVERVIEWS=IGNORE_EXISTING");
  });

  it.each([
    [[8191, 100_000], undefined],
    [[8192, 8192], 2],
    [[40_000, 20_000], 3],
    [[1e6, 1e6], 5],
  ] as const)("aligns overviews of %j pixels to web tiles in %s levels", (size, levels) => {
    const profile = choose({ rasterType: "rgb", dataType: "uint8", tier: "visualization" });
    const options = toCreationOptions(profile, { threads: 2, addAlpha: false, size });
    const aligned = options.filter((each) => each.startsWith("ALIGNED_LEVELS"));
    expect(aligned).toEqual(levels === undefined ? [] : [`ALIGNED_LEVELS=${levels}`]);
  });
});

describe("tiles", () => {
  it.each([
    [1, 1, 512],
    [1500, 700, 512],
    [1024, 1024, 512],
  ])("of %i × %i cover it once", (width, height, side) => {
    const { tiles, rows, columns } = cutTiles(width, height, side);
    expect(tiles).toHaveLength(rows * columns);
    const seen = new Uint8Array(width * height);
    for (const { window } of tiles) {
      const [left, top, wide, high] = window;
      for (let y = top; y < top + high; y++) {
        for (let x = left; x < left + wide; x++) seen[y * width + x]!++;
      }
    }
    expect(seen.every((times) => times === 1)).toBe(true);
  });

  it("have about the size that was asked for, on the grid of warped blocks", () => {
    expect(tileSide(3, 50 * 1024 * 1024)).toBe(4096);
    expect(tileSide(4, 1)).toBe(512);
  });

  it("lie north of those in later rows", () => {
    const transform = [10, 0, 100, 0, -10, 1000] as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    expect(windowBounds(transform, [512, 512, 10, 20])).toEqual([5220, -4320, 5320, -4120]);
  });
});

describe("a CRS", () => {
  const wgs84 =
    'GEOGCRS["WGS 84",ENSEMBLE["World Geodetic System 1984 ensemble",ELLIPSOID["WGS 84",6378137,298.257223563]],CS[ellipsoidal,2],ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",4326]]';
  const crs84 =
    'GEOGCRS["WGS 84 (CRS84)",DATUM["WGS_1984",ELLIPSOID["WGS 84",6378137,298.257223563]],CS[ellipsoidal,2],AXIS["longitude",east],ANGLEUNIT["degree",0.0174532925199433],ID["OGC","CRS84"]]';
  const nad27 =
    'GEOGCRS["NAD27",DATUM["North American Datum 1927",ELLIPSOID["Clarke 1866",6378206.4,294.978698213898]],CS[ellipsoidal,2],ID["EPSG",4267]]';

  it("is compared by its meaning", () => {
    const [a, b, c] = [wgs84, crs84, nad27].map((text) => describeCrs(text)!);
    expect(isSameCrs(a!, b!)).toBe(true);
    expect(isSameCrs(a!, c!)).toBe(false);
    expect(isEarth(a!)).toBe(true);
  });

  it.each([
    ["EPSG:4326", true],
    ["OGC:CRS84", true],
    ["urn:ogc:def:crs:EPSG::32618", true],
    ["+proj=utm +zone=18 +datum=WGS84", true],
    [wgs84, true],
    ["/etc/passwd", false],
    ["https://example.com/crs.prj", false],
    ["http:evil", false],
    ["+proj=longlat +nadgrids=/etc/passwd", false],
    ["+init=/tmp/x:1", false],
    ["secret.prj", false],
    ["4326", false],
    ["", false],
    ["EPSG:", false],
    ["WGS84; DROP TABLE x", false],
    ["+proj=longlat nadgrids=/etc/passwd", false],
    ["+proj=longlat nadgrids = /etc/passwd", false],
    ["+proj=pipeline +step +proj=longlat", false],
    ["+proj=tmerc init=/etc/x:y", false],
    ['BOUNDCRS[ABRIDGEDTRANSFORMATION["x",PARAMETERFILE["x","/etc/passwd"]]]', false],
    ['{"type":"BoundCRS","transformation":{"parameters":[{"name":"x","value":"/etc/x"}]}}', false],
    ['{"type":"GeographicCRS","name":"WGS 84","parameters":[{"name":"x","value":7}]}', true],
    ['PROJCS["UTM zone 32N",GEOGCS["WGS 84"]]', true],
  ])("may be given as %s: %s", (text, isTaken) => {
    expect(isCrsText(text)).toBe(isTaken);
  });
});

describe("the header of a TIFF", () => {
  const image = (given: Partial<TiffImage>): TiffImage => ({
    ifd_offset: 8,
    subfile_type: 0,
    width: 1000,
    height: 1000,
    is_tiled: false,
    block_width: 1000,
    block_height: 1000,
    bits_per_sample: 8,
    samples_per_pixel: 1,
    sample_format: 1,
    compression: 1,
    predictor: 1,
    has_color_map: false,
    photometric: 1,
    is_planar: false,
    block_offsets: [100],
    block_bytes: [1_000_000],
    ...given,
  });
  const judge = (given: Partial<TiffImage>, file_bytes = 2_000_000) => {
    const structure: TiffStructure = {
      file_bytes,
      is_big: false,
      ghost: null,
      images: [image(given)],
    };
    return judgeHeader(structure).map(({ code }) => code);
  };

  it("tells whether tiles can be made from its blocks, those of overviews too", () => {
    const servable = (...others: Partial<TiffImage>[]) =>
      hasServableBlocks({
        file_bytes: 1,
        is_big: false,
        ghost: null,
        images: [image({}), ...others.map(image)],
      });
    const large = { block_width: 16_384, block_height: 16_384 };
    expect(servable({ block_width: 512, block_height: 512 })).toBe(true);
    expect(servable({}, large)).toBe(false);
    expect(servable({ ...large, bits_per_sample: 1 })).toBe(true);
  });

  it.each([
    ["is believed where the sizes fit", {}, []],
    ["may not end behind the file", { block_offsets: [1_500_000] }, ["FILE_CORRUPTED"]],
    [
      "may not claim blocks that no memory could hold",
      { width: 60_000, height: 60_000, block_width: 60_000, block_height: 60_000 },
      ["HEADER_IMPLAUSIBLE"],
    ],
    ["may not list too few blocks", { height: 5000 }, ["HEADER_IMPLAUSIBLE"]],
    [
      "may not claim more than its bytes expand to",
      { block_bytes: [1000], compression: 1, height: 30_000, block_height: 30_000 },
      ["HEADER_IMPLAUSIBLE"],
    ],
    ["says when nothing was ever written", { block_bytes: [0] }, ["RASTER_EMPTY"]],
  ])("%s", (_, given, codes) => {
    expect(judge(given)).toEqual(codes);
  });
});

describe("a sample", () => {
  it("finds the range of the values, without empty pixels", () => {
    const values = [-9999, ...Array.from({ length: 101 }, (_, index) => index), Number.NaN];
    expect(summariseSample(values, -9999)).toMatchObject({
      percentile_2: 2,
      percentile_98: 98,
      distinct: 101,
      whole: true,
      lowest: 0,
    });
    expect(summariseSample([5, 5], 5)).toBeUndefined();
  });
});
