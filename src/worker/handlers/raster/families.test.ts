/** One small file of each family of rasters that arrive, compared with what rasterio says. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import { intersects } from "../../../core/geometry/intersects.ts";
import type { SearchGeometry } from "../../../core/geometry/geometry.ts";
import type { RasterServer } from "../../../adapters/tiles/raster-server.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { ingestRaster, serveRasters } from "../../../../test/support/ingest-raster.ts";
import type { Ingested } from "../../../../test/support/ingest-raster.ts";
import { writeTiff } from "../../../../test/support/tiff.ts";
import { validate } from "./validate-check-homogeneity.ts";

/** `test/fixtures/families/make.py` wrote it. */
interface Expected {
  readonly epsg?: number | null;
  readonly points?: readonly {
    readonly lon: number;
    readonly lat: number;
    readonly values: readonly (number | null)[];
  }[];
  readonly statistics?: readonly (Readonly<Record<string, number>> | null)[];
}
const expected = (
  JSON.parse(readFileSync(fixture("families/expected.json"), "utf8")) as {
    rasters: Record<string, Expected>;
  }
).rasters;

const { signal } = new AbortController();
const ask = { bands: undefined, nodata: undefined, signal };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Files that are compared pixel by pixel; `true`: their copies for web maps too. */
const placed: Readonly<Record<string, boolean>> = {
  "rgb_brazil_4674.tif": true,
  "rgb_montreal_4269.tif": true,
  "palette_borneo_4326.tif": true,
  "rgb_europe_3035.tif": true,
  "signed_bytes.tif": true,
  "signed_bytes.img": true,
  "signed_bytes.nc": false,
  "grads_paris_4807.tif": false,
  "lo19_2048.tif": false,
  "point_dem.tif": false,
  "web_mercator_arcgis.tif": false,
  "compound_rd_nap.tif": false,
  "oblique_malaysia.tif": false,
  "ease_grid_3408.tif": false,
  "datum_ed50.tif": false,
  "statistics_wrong.tif": false,
  "mask_classes.tif": true,
  "mask_uint16.tif": true,
  "mask_signed_bytes.tif": true,
  "mask_and_nodata.tif": true,
  "mask_south_up.tif": true,
  "masks_of_bands.tif": true,
  "nodata_of_bands.img": false,
  "alpha_gray.tif": false,
  "alpha_and_nodata.tif": false,
  "polar_3413.tif": false,
  "polar_3031.tif": false,
  "polar_3031_side.tif": false,
  "world_0_360.tif": false,
  "world_0_360_centres.tif": false,
  "bits_1.tif": false,
  "bits_2.tif": false,
  "bits_15.tif": false,
  "float16.tif": false,
  "one_pixel.tif": false,
  "gcps_4.tif": false,
  "rpc_only.tif": false,
};
/** The WebAssembly engine is slow: one file of each family, and few copies. */
const placedByWasm: Readonly<Record<string, boolean>> = {
  "rgb_brazil_4674.tif": true,
  "mask_classes.tif": true,
  "masks_of_bands.tif": false,
  "signed_bytes.tif": false,
  "grads_paris_4807.tif": false,
  "point_dem.tif": false,
  "web_mercator_arcgis.tif": false,
  "compound_rd_nap.tif": false,
  "ease_grid_3408.tif": false,
  "mask_and_nodata.tif": false,
  "statistics_wrong.tif": false,
  "nodata_of_bands.img": false,
  "polar_3031.tif": false,
  "world_0_360_centres.tif": false,
  "bits_1.tif": false,
  "rpc_only.tif": false,
};
const judgedByWasm = [
  "RASTER_EMPTY",
  "GCPS_TOO_FEW",
  "CRS_LOCAL",
  "PALETTE_MISSING",
  "FURTHER_IMAGES",
  "CODEC_NOT_SUPPORTED",
];
const engines = [
  { engine: "native", files: placed },
  { engine: "wasm", files: placedByWasm },
] as const;

/** The native engine reads signed bytes in 16 bits, in which heights are. */
const types: Readonly<Record<string, string>> = {
  "signed_bytes.tif": "continuous",
  "signed_bytes.img": "continuous",
  "point_dem.tif": "dem",
};
const fold = (lon: number) => (lon > 180 ? lon - 360 : lon);

/** What PROJ does to these on the way to WGS 84. */
const operations: Readonly<Record<string, RegExp>> = {
  "datum_ed50.tif": /^ED50 to WGS 84/,
  "compound_rd_nap.tif": /^Amersfoort to WGS 84/,
  "grads_paris_4807.tif": /NTF \(Paris\)/,
};

/** The item records the operation, and a grid that is missing is told. */
function checkOperation(name: string, { item, judged }: Ingested): void {
  const wanted = operations[name];
  if (wanted === undefined) return;
  const used = item.assets["data"]!["rmhdag:transformation"] as {
    operation: string;
    missing_grids?: readonly string[];
  };
  expect(used.operation).toMatch(wanted);
  const told = judged.findings.some(({ code }) => code === "TRANSFORMATION_GRID_MISSING");
  expect(told).toBe((used.missing_grids ?? []).length > 0);
}

/** The other side of the globe is no part of a footprint, unless the raster is of the world. */
function checkFootprint(
  name: string,
  footprint: Ingested["item"]["geometry"],
  { lon, lat }: { readonly lon: number; readonly lat: number },
): void {
  const opposite: SearchGeometry = { type: "Point", coordinates: [fold(lon + 180), -lat] };
  expect(intersects(footprint as SearchGeometry, opposite)).toBe(name.startsWith("world"));
  const numbers = (JSON.stringify(footprint).match(/-?\d[\d.e+-]*/g) ?? []).map(Number);
  expect(Math.max(...numbers.map(Math.abs))).toBeLessThanOrEqual(180);
}

async function judgeWith(test: TestContext, name: string, params: object = {}) {
  const blob_path = `bronze/${name}`;
  await test.storage.putFile(blob_path, fixture(`families/${name}`));
  const judged = await test.run(validate, { blob_path, on_reject: "report", ...params });
  return judged as { verdict: string; raster_type: string; findings: { code: string }[] };
}

describe.each(engines)("with the $engine engine", ({ engine, files }) => {
  const isThere = engine === "wasm" || hasGdal;
  let test: TestContext;
  let server: RasterServer;
  beforeAll(async () => {
    if (!isThere) return;
    const gdal = await createGdal({ prefer: engine });
    test = await createTestContext({ gdal, database: database.db });
    server = serveRasters(test);
  });
  afterAll(() => (isThere ? test.dispose() : undefined));

  it.skipIf(!isThere).each(Object.keys(files))(
    "%s lies where rasterio says, with its values",
    async (name) => {
      const withVisual = files[name] ?? false;
      const options = { withVisual };
      const file = fixture(`families/${name}`);
      const ingested = await ingestRaster(test, name, file, {}, options);
      const { item, layer, visual, made } = ingested;
      const { points = [], statistics = [], epsg } = expected[name]!;
      expect(points.length).toBeGreaterThan(0);
      // GDAL before 3.7 does not tell the code of a compound system; it is not that of a part.
      const codes = [`EPSG:${epsg}`, ...(name.startsWith("compound") ? [null] : [])];
      if (epsg != null) expect(codes).toContain(item.properties["proj:code"]);
      if (types[name] !== undefined) expect(ingested.judged.raster_type).toBe(types[name]);
      const { minZoom, maxZoom } = await server.zooms(layer);
      expect([minZoom <= maxZoom, maxZoom < 24]).toEqual([true, true]);
      const served = await server.statistics(layer, { ...ask, mostSide: 1024 });
      checkOperation(name, ingested);
      for (const { lon, lat, values } of points) {
        const found = await server.point(layer, { lon, lat }, ask);
        const wanted = values.slice(0, found.values.length);
        expect(found.values.map(rounded)).toEqual(wanted.map(rounded));
        const there: SearchGeometry = { type: "Point", coordinates: [fold(lon), lat] };
        expect(intersects(item.geometry as SearchGeometry, there)).toBe(true);
        if (visual === undefined) continue;
        const shown = await server.point({ ...layer, data_path: layer.path }, { lon, lat }, ask);
        expect(shown.values[0] === null).toBe(values[0] === null);
      }
      checkFootprint(name, item.geometry, points[0]!);
      const bands = made.facts.bands.filter(({ color }) => color !== "alpha");
      bands.forEach((band, index) => {
        // A raster that is warped has other pixels than the file.
        const wanted = statistics[index];
        if (wanted === undefined || wanted === null) return;
        expect(served[band.name]!.mean).toBeCloseTo(wanted["mean"]!, 2);
        expect(band.statistics!.minimum).toBeCloseTo(wanted["minimum"]!, 3);
        expect(band.statistics!.maximum).toBeCloseTo(wanted["maximum"]!, 3);
        expect(band.statistics!.mean).toBeCloseTo(wanted["mean"]!, 2);
        expect(band.statistics!.valid_percent).toBeCloseTo(wanted["valid_percent"]!, 1);
      });
    },
    60_000,
  );

  const isJudged = ([, , , code]: readonly [string, object, unknown, string]) =>
    engine === "native" || judgedByWasm.includes(code);
  const verdicts: [string, object, string | RegExp, string][] = [
    ["statistics_of_nothing.tif", {}, "rejected", "RASTER_EMPTY"],
    ["gcps_2.tif", {}, "rejected", "GCPS_TOO_FEW"],
    ["local_system.tif", {}, "rejected", "CRS_LOCAL"],
    ["local_system.tif", { source_crs: "EPSG:32632" }, "warning", "CRS_OVERRIDE"],
    ["palette_without_table.tif", {}, "warning", "PALETTE_MISSING"],
    ["pages.tif", {}, "warning", "FURTHER_IMAGES"],
    ["bits_10.tif", {}, "warning", "SAMPLE_SIZE"],
    ["bits_12.tif", {}, "warning", "SAMPLE_SIZE"],
    ["rpc_only.tif", {}, "warning", "GCPS_ONLY"],
    // The grids of the Netherlands are rarely installed, and that is told as well.
    ["compound_rd_nap.tif", {}, /green|warning/, "VERTICAL_DATUM"],
    ["heights.tif", { compression: "jpeg" }, "rejected", "COMPRESSION_UNSUITABLE"],
    ["masks_of_bands.tif", {}, "warning", "BANDS_EMPTY_APART"],
    ["mask_and_nodata.tif", {}, "warning", "NODATA_AND_MASK"],
    ["alpha_first.tif", {}, "rejected", "ALPHA_NOT_LAST"],
    ["jpeg_12.tif", {}, "rejected", "CODEC_NOT_SUPPORTED"],
  ];
  const judged = verdicts.filter(isJudged);
  it.skipIf(!isThere).each(judged)("%s %o is %s: %s", async (name, params, verdict, code) => {
    const judged = await judgeWith(test, name, params);
    expect({ verdict: judged.verdict, codes: judged.findings.map((each) => each.code) }).toEqual({
      verdict: expect.stringMatching(verdict) as string,
      codes: expect.arrayContaining([code]) as string[],
    });
  });

  it.skipIf(!isThere)("infinite numbers are left out of the statistics", async () => {
    const band = Float32Array.from({ length: 64 * 64 }, (_, index) => index);
    band.set([Infinity, -Infinity, Number.NaN], 70);
    const file = path.join(test.folder, "infinite.tif");
    const image = { width: 64, height: 64, block: 64, bands: [band] };
    const place = { epsg: 32633, origin: [500_000, 5_500_000], pixel: [10, 10] } as const;
    await writeFile(file, writeTiff({ images: [image], ...place }));
    const options = { withVisual: false };
    const { judged, made } = await ingestRaster(test, "infinite.tif", file, {}, options);
    expect(judged.verdict).not.toBe("rejected");
    const numbers = [...band].filter((value) => Number.isFinite(value));
    const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    expect(made.facts.bands[0]!.statistics).toMatchObject({
      minimum: 0,
      maximum: 4095,
      mean: expect.closeTo(mean, 3) as number,
      valid_percent: 99.93,
    });
  });
});

const rounded = (value: number | null) => (value === null ? null : Math.round(value * 100) / 100);

describe.skipIf(!hasGdal)("what arrives in another form (needs GDAL)", () => {
  let test: TestContext;
  let server: RasterServer;
  beforeAll(async () => {
    test = await createTestContext({ database: database.db });
    server = serveRasters(test);
  });
  afterAll(() => test.dispose());

  const judge = (name: string, params: object = {}) => judgeWith(test, name, params);

  it.each([
    ["heights.img", "dem"],
    ["satellite_band.tif", "continuous"],
    ["radar_band.tif", "continuous"],
    ["noise_int64.tif", "continuous"],
  ])("%s is taken for %s", async (name, raster_type) => {
    expect(await judge(name)).toMatchObject({ raster_type });
  });

  it.each(["weather.nc", "weather4.nc"])("makes bands of the variables of %s", async (name) => {
    const options = { withVisual: false };
    const file = fixture(`families/${name}`);
    const { item, layer, made } = await ingestRaster(test, name, file, {}, options);
    expect(made.facts.bands.map(({ description }) => description)).toEqual([
      "t2m 2024-01-01T00:00:00Z",
      "t2m 2024-01-01T06:00:00Z",
      "t2m 2024-01-01T12:00:00Z",
      "rain 2024-01-01T00:00:00Z",
      "rain 2024-01-01T06:00:00Z",
      "rain 2024-01-01T12:00:00Z",
    ]);
    expect(item.properties).toMatchObject({
      start_datetime: "2024-01-01T00:00:00Z",
      end_datetime: "2024-01-01T12:00:00Z",
      "proj:code": "EPSG:4326",
    });
    // The fourth row from the south and the third column, as make.py writes them.
    const { values } = await server.point(layer, { lon: 12.5, lat: -27.5 }, ask);
    const at = 3 * 36 + 2;
    const rain = (at % 50) / 10;
    const wanted = [250 + at / 100, 260 + at / 100, 270 + at / 100, rain, rain + 10, rain + 20];
    expect(values.map(rounded)).toEqual(wanted.map(rounded));
  });

  it("reads the 12 bits of JPEG 2000", async () => {
    const file = fixture("families/bits_12.jp2");
    const options = { withVisual: false };
    const { judged, layer } = await ingestRaster(test, "bits_12.jp2", file, {}, options);
    expect(judged.findings.map(({ code }) => code)).toContain("SAMPLE_SIZE");
    for (const { lon, lat, values } of expected["bits_12.tif"]!.points!) {
      expect((await server.point(layer, { lon, lat }, ask)).values).toEqual(values);
    }
  });

  it("reads plain HDF5 with rows of latitude, each value in its place", async () => {
    const file = fixture("families/upright.h5");
    const made = await ingestRaster(test, "upright.h5", file, {}, { withVisual: false });
    expect(made.item.properties).toMatchObject({ "proj:code": "EPSG:4326" });
    // As make.py writes them: 9 × column from the west + row from the south.
    for (const [lon, lat, value] of [
      [-170, -80, 0],
      [30, -20, 93],
      [170, 80, 161],
    ] as const) {
      expect((await server.point(made.layer, { lon, lat }, ask)).values).toEqual([value]);
    }
  });

  it("refuses a time that is none before it opens the file", async () => {
    const wrong = { blob_path: "bronze/not_there.tif", datetime: "2024-02-30T10:00:00Z" };
    await expect(test.run(validate, wrong)).rejects.toThrow(/datetime/);
  });

  it("keeps one variable where it is named, and says which there are", async () => {
    const one = await judge("weather4.nc", { variable: "rain" });
    expect(one).toMatchObject({ band_count: 3, raster_type: "continuous" });
    await expect(judge("weather4.nc", { variable: "snow" })).rejects.toMatchObject({
      code: "VARIABLE_NOT_FOUND",
      message: expect.stringContaining("t2m, rain") as string,
    });
  });

  it("reads GRIB with its time, Zarr, and the names of classes", async () => {
    const options = { withVisual: false };
    const file = (name: string) => fixture(`families/${name}`);
    const grib = await ingestRaster(test, "a.grb2", file("weather.grb2"), {}, options);
    expect(grib.item.properties.datetime).toBe("2024-01-01T06:00:00Z");
    const zarr = await ingestRaster(test, "a.zarr.zip", file("heights.zarr.zip"), {}, options);
    const [place] = expected["heights.tif"]!.points!;
    const found = await server.point(zarr.layer, { lon: place!.lon, lat: place!.lat }, ask);
    expect(found.values.map(rounded)).toEqual(place!.values.map(rounded));
    const classes = await ingestRaster(test, "a.img", file("classes.img"), {}, options);
    expect(classes.item.assets["data"]!["classification:classes"]).toContainEqual({
      value: 1,
      name: "Open_water",
      description: "Open water",
      color_hint: "0000FF",
    });
  }, 60_000);

  it("shows bands that are named red, green and blue, by the copy that was made for it", async () => {
    const file = fixture("families/bands_named.tif");
    const { item, layer, visual } = await ingestRaster(test, "bands_named.tif", file);
    expect(item.properties["renders"]).toMatchObject({ default: { bidx: [3, 2, 1] } });
    expect(visual!.facts.bands.map(({ color }) => color)).toEqual(["red", "green", "blue"]);
    expect(layer.copy).toMatchObject({ shows: "picture", style: { bands: [3, 2, 1] } });
  });

  it("places a picture of the globe by the part that is on it", async () => {
    const file = fixture("families/geostationary.tif");
    const options = { withVisual: false };
    const { item, layer } = await ingestRaster(test, "geostationary.tif", file, {}, options);
    expect(item.bbox[0]).toBeCloseTo(-75, 0);
    const { values } = await server.point(layer, { lon: 0.5, lat: -0.5 }, ask);
    expect(values).toEqual([(20 * 40 + 20) / 2]);
  });
});

describe.each(["native", "wasm"] as const)("Zarr with the %s engine", (engine) => {
  it.skipIf(engine === "native" && !hasGdal)(
    "has bands of its times, unpacked and placed by its degrees; Zarr 3 is refused",
    async () => {
      const gdal = await createGdal({ prefer: engine });
      const test = await createTestContext({ gdal, database: database.db });
      const [name, newer] = ["weather.zarr.zip", "weather_3.zarr.zip"];
      const options = { withVisual: false };
      const file = fixture(`families/${name}`);
      const { item, layer, made } = await ingestRaster(test, name, file, {}, options);
      expect(made.facts.bands.map(({ description }) => description)).toEqual([
        "t2m 2024-01-01T00:00:00Z",
        "t2m 2024-01-01T06:00:00Z",
        "t2m 2024-01-01T12:00:00Z",
      ]);
      expect(item.properties).toMatchObject({
        end_datetime: "2024-01-01T12:00:00Z",
        "proj:code": "EPSG:4326",
      });
      // The fourth row and the third column, as make.py writes them.
      const at = 3 * 36 + 2;
      const { values } = await serveRasters(test).point(layer, { lon: 12.5, lat: 27.5 }, ask);
      expect(values).toEqual([0, 1, 2].map((step) => 100 + (step * 18 * 36 + at) / 2));
      await test.storage.putFile(`bronze/${newer}`, fixture(`families/${newer}`));
      await expect(test.run(validate, { blob_path: `bronze/${newer}` })).rejects.toMatchObject({
        code: "FORMAT_NOT_SUPPORTED",
        message: expect.stringContaining("zarr_format=2") as string,
      });
      await test.dispose();
    },
    60_000,
  );
});

describe.each(["native", "wasm"] as const)("HDF4 with the %s engine", (engine) => {
  it.skipIf(engine === "native" && !hasGdal)(
    "has GDAL's pixels in their places, or is refused with what would read it",
    async () => {
      const gdal = await createGdal({ prefer: engine });
      const test = await createTestContext({ gdal, database: database.db });
      const file = fixture("families/heights.hdf");
      if (!gdal.capabilities.rasterDrivers.includes("HDF4Image")) {
        await test.storage.putFile("bronze/heights.hdf", file);
        await expect(test.run(validate, { blob_path: "bronze/heights.hdf" })).rejects.toMatchObject(
          {
            code: "FORMAT_NOT_SUPPORTED",
            message: expect.stringContaining("native GDAL") as string,
          },
        );
        await test.dispose();
        return;
      }
      const options = { withVisual: false };
      const { layer, made } = await ingestRaster(test, "heights.hdf", file, {}, options);
      const pixelsOf = async (raster: string) => {
        const target = path.join(test.folder, `${path.basename(raster)}.raw`);
        const args = ["-q", "-of", "ENVI", "-ot", "Float64", raster, target];
        await gdal.run("gdal_translate", args, { workDir: test.folder, sources: [raster] });
        return readFileSync(target);
      };
      const cog = (await test.storage.localPath(made.blob_path))!;
      expect((await pixelsOf(cog)).equals(await pixelsOf(file))).toBe(true);
      const [place] = expected["heights.tif"]!.points!;
      const found = await serveRasters(test).point(
        layer,
        { lon: place!.lon, lat: place!.lat },
        ask,
      );
      expect(found.values.map(rounded)).toEqual(place!.values.map(rounded));
      await test.dispose();
    },
    60_000,
  );
});

it("says what would read a format that this GDAL does not have", async () => {
  const test = await createTestContext({ gdal: await createGdal({ prefer: "wasm" }) });
  for (const name of ["weather4.nc", "bits_12.jp2"]) {
    await test.storage.putFile(`bronze/${name}`, fixture(`families/${name}`));
    await expect(test.run(validate, { blob_path: `bronze/${name}` })).rejects.toMatchObject({
      code: "FORMAT_NOT_SUPPORTED",
      message: expect.stringContaining("native GDAL") as string,
    });
  }
  await test.dispose();
});
