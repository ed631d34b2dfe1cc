/** HDF5 of products whose arrays GDAL does not place, compared with xarray and a later GDAL. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RasterServer } from "../../../adapters/tiles/raster-server.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import { ingestRaster, serveRasters } from "../../../../test/support/ingest-raster.ts";
import { createCog } from "./create-cog-reproject.ts";

/** `test/fixtures/families/make_hdf5.py` wrote it. */
interface Expected {
  readonly width: number;
  readonly height: number;
  readonly transform?: readonly number[];
  readonly points: readonly {
    readonly lon: number;
    readonly lat: number;
    readonly value?: number;
    readonly values?: readonly (number | null)[];
  }[];
}
const expected = JSON.parse(readFileSync(fixture("families/expected_hdf5.json"), "utf8")) as Record<
  string,
  Expected
>;

const ask = { bands: undefined, nodata: undefined, signal: new AbortController().signal };

describe.skipIf(!hasGdal)("arrays that GDAL does not place (needs GDAL)", () => {
  let database: TestDatabase;
  let test: TestContext;
  let server: RasterServer;
  beforeAll(async () => {
    database = await createTestDatabase();
    test = await createTestContext({ database: database.db });
    server = serveRasters(test);
  });
  afterAll(async () => {
    await test.dispose();
    await database.drop();
  });

  const ingest = (name: string, params: object = {}) =>
    ingestRaster(test, name, fixture(`families/${name}`), { ...params }, { withVisual: false });

  it("turns the arrays of GPM IMERG, each value into its place", async () => {
    const { item, layer, made } = await ingest("imerg.HDF5");
    const { width, height, points } = expected["imerg"]!;
    expect(made.facts).toMatchObject({ width, height, transform: [10, 0, -180, 0, -10, 90] });
    expect(made.facts.bands.map(({ description, unit }) => [description, unit])).toEqual([
      ["precipitation time=1577836800", "mm/hr"],
      ["probabilityLiquidPrecipitation time=1577836800", "percent"],
    ]);
    expect(item.properties).toMatchObject({ "proj:code": "EPSG:4326" });
    for (const { lon, lat, values } of points) {
      expect((await server.point(layer, { lon, lat }, ask)).values).toEqual(values);
    }
  });

  it("turns an array without a time", async () => {
    const { layer } = await ingest("sideways.h5");
    // As make.py writes them: 9 × column from the west + row from the south.
    for (const [lon, lat, value] of [
      [-170, -80, 0],
      [30, -20, 93],
      [170, 80, 161],
    ] as const) {
      expect((await server.point(layer, { lon, lat }, ask)).values).toEqual([value]);
    }
  });

  it("refuses an array of Zarr that would fit on its side too", async () => {
    const folder = "bronze/side.zarr";
    const put = (name: string, content: string | Float32Array) =>
      test.storage.put(
        `${folder}/${name}`,
        typeof content === "string"
          ? Buffer.from(content)
          : new Uint8Array(content.buffer.slice(0) as ArrayBuffer),
      );
    await put(".zgroup", '{"zarr_format":2}');
    const axes = { lon: [10, 12, 14], lat: [41, 40] };
    for (const [name, dimensions, values, units] of [
      ["rain", ["lon", "lat"], [0, 1, 2, 3, 4, 5], "mm"],
      ["lon", ["lon"], axes.lon, "degrees_east"],
      ["lat", ["lat"], axes.lat, "degrees_north"],
    ] as const) {
      const shape = dimensions.map((each) => axes[each].length);
      const form = { zarr_format: 2, shape, chunks: shape, dtype: "<f4", order: "C" };
      const rest = { compressor: null, fill_value: null, filters: null };
      await put(`${name}/.zarray`, JSON.stringify({ ...form, ...rest }));
      await put(`${name}/.zattrs`, JSON.stringify({ units, _ARRAY_DIMENSIONS: dimensions }));
      await put(`${name}/${shape.map(() => 0).join(".")}`, Float32Array.from(values));
    }
    await expect(test.run(createCog, { blob_path: folder })).rejects.toMatchObject({
      code: "GEOTRANSFORM_MISSING",
      message: expect.stringContaining("longitudes in rows") as string,
    });
  });

  it.each([
    ["viirs_sinusoidal", { variable: "SurfReflect_I1_1" }],
    ["viirs_degrees", {}],
  ])("places the grid of HDF-EOS5 in %s as a later GDAL does", async (name, params) => {
    const { layer, made } = await ingest(`${name}.h5`, params);
    const { width, height, transform, points } = expected[name]!;
    expect(made.facts).toMatchObject({ width, height });
    for (const [at, number] of transform!.entries()) {
      expect(made.facts.transform[at]).toBeCloseTo(number, 6);
    }
    for (const { lon, lat, value } of points) {
      const { values } = await server.point(layer, { lon, lat }, ask);
      expect(values[0], `${lon} ${lat}`).toBeCloseTo(value!, 6);
    }
  });

  it("keeps the variables of the finest of several grids", async () => {
    const { made } = await ingest("viirs_sinusoidal.h5");
    expect(made.facts.bands).toHaveLength(2);
    expect(made.facts.width).toBe(24);
  });
});
