import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture } from "../../../../test/support/fixtures.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { HandlerError } from "../../errors.ts";
import { validate } from "./validate-check-homogeneity.ts";

let test: TestContext;
beforeAll(async () => {
  test = await createTestContext();
});
afterAll(() => test.dispose());

interface Validated {
  readonly verdict: string;
  readonly raster_type: string;
  readonly is_cog: boolean;
  readonly can_visualize: boolean;
  readonly findings: readonly { code: string; message: string; remedy: string }[];
}

async function judge(name: string, params: object = {}): Promise<Validated> {
  const blob_path = `bronze/${name}`;
  await test.storage.putFile(blob_path, fixture(`raster/${name}`));
  const sidecar = fixture(`raster/${name}.ovr`);
  await test.storage.putFile(`${blob_path}.ovr`, sidecar).catch(() => undefined);
  return (await test.run(validate, { blob_path, on_reject: "report", ...params })) as Validated;
}

/** Without the finding that depends on the grids of the machine. */
const codesOf = ({ findings }: Validated) =>
  findings.map(({ code }) => code).filter((code) => code !== "TRANSFORMATION_GRID_MISSING");

describe.skipIf(!hasGdal)("a curator's expectations of real files (needs GDAL)", () => {
  it.each([
    ["rgb_utm18_nodata0.tif", "green", "rgb", []],
    ["rotated_no_crs.tif", "rejected", "continuous", ["CRS_MISSING", "NOT_NORTH_UP"]],
    ["rgba_uint16.tif", "green", "rgba", ["SIXTEEN_BIT_IMAGERY"]],
    ["all_nodata.tif", "rejected", "multispectral", ["RASTER_EMPTY"]],
    ["jpeg_cog.tif", "green", "rgb", ["ALREADY_COG"]],
    ["jpeg_cog_corrupt_block.tif", "rejected", "unknown", ["FILE_CORRUPTED"]],
    ["palette_custom_laea.tif", "warning", "categorical", ["CRS_WITHOUT_CODE", "PALETTE"]],
    ["float64_nan.tif", "rejected", "continuous", ["BIT_DEPTH_POLICY_VIOLATION"]],
    ["nodata_unset.tif", "warning", "dem", ["CRS_WITHOUT_CODE", "NODATA_NOT_DECLARED"]],
    ["external_overview.tif", "green", "rgba", []],
    ["overviews_unsorted.tif", "green", "rgb", []],
    ["valid_cog_uint16.tif", "green", "continuous", ["ALREADY_COG"]],
    ["antimeridian_utm60.tif", "warning", "continuous", ["CROSSES_ANTIMERIDIAN", "ALREADY_COG"]],
    ["crs_without_code.tif", "warning", "continuous", ["CRS_WITHOUT_CODE"]],
    ["dem_float32_epsg2056.tif", "green", "dem", ["ALREADY_COG"]],
    ["truncated.tif", "rejected", "unknown", ["FILE_CORRUPTED"]],
    ["header_bomb_65535.tif", "rejected", "unknown", ["HEADER_IMPLAUSIBLE"]],
    ["complex_float32.tif", "rejected", "dem", ["BIT_DEPTH_POLICY_VIOLATION"]],
  ])("%s is %s", async (name, verdict, type, codes) => {
    const result = await judge(name);
    expect({ ...result, codes: codesOf(result) }).toMatchObject({ verdict, codes });
    if (type !== "unknown") expect(result.raster_type).toBe(type);
    expect(result.findings.every(({ message, remedy }) => message && remedy)).toBe(true);
  });

  it("takes a given CRS for a file that has none, and turns it north-up", async () => {
    const result = await judge("rotated_no_crs.tif", { source_crs: "EPSG:32618" });
    expect(result.verdict).toBe("warning");
    expect(codesOf(result)).toEqual(["CRS_OVERRIDE", "NOT_NORTH_UP"]);
  });

  it("compares a given CRS by its meaning", async () => {
    const same = await judge("float64_nan.tif", { source_crs: "OGC:CRS84", allow_downcast: true });
    expect(codesOf(same)).toEqual(["BIT_DEPTH_DOWNCAST"]);
    const other = await judge("dem_float32_epsg2056.tif", { source_crs: "EPSG:4326" });
    expect(codesOf(other)[0]).toBe("CRS_MISMATCH");
  });

  it("takes an empty tile of a flood model if max_nodata_percent allows it", async () => {
    expect(codesOf(await judge("flood_tile_3600.tif"))).toContain("RASTER_EMPTY");
    const result = await judge("flood_tile_3600.tif", { max_nodata_percent: 100 });
    expect(result.verdict).toBe("warning");
    expect(codesOf(result)).toContain("RASTER_SPARSE");
  });

  it("refuses a file that is not what it was described as", async () => {
    const result = await judge("rgb_utm18_nodata0.tif", { raster_type: "dem" });
    expect(codesOf(result)).toEqual(["RASTER_TYPE_MISMATCH"]);
  });

  it("fails the task of a rejected file, with everything in plain words and as data", async () => {
    await test.storage.putFile("bronze/r.tif", fixture("raster/rotated_no_crs.tif"));
    const failed = test.run(validate, { blob_path: "bronze/r.tif" });
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HandlerError);
    expect(error).toMatchObject({
      code: "CRS_MISSING",
      category: "permanent",
      message: expect.stringContaining("source_crs") as unknown,
      details: { findings: [{ code: "CRS_MISSING" }, { code: "NOT_NORTH_UP" }] },
    });
  });
});

describe("what is no raster", () => {
  it.each([
    ["", "FILE_EMPTY"],
    ["id,name\n1,a\n", "INVALID_FORMAT"],
    ["<VRTDataset rasterXSize='1' rasterYSize='1'/>", "INVALID_FORMAT"],
    ["II*\0", "FILE_CORRUPTED"],
    ["II*\0\u00ff\u00ff\0\0", "FILE_CORRUPTED"],
  ])("%j is refused as %s", async (text, code) => {
    await test.storage.put("bronze/x.tif", Buffer.from(text, "latin1"));
    const result = await test.run(validate, { blob_path: "bronze/x.tif", on_reject: "report" });
    expect(codesOf(result as Validated)).toEqual([code]);
  });

  it("is named when it is not there at all", async () => {
    await expect(test.run(validate, { blob_path: "bronze/none.tif" })).rejects.toMatchObject({
      code: "SOURCE_NOT_FOUND",
    });
  });

  it("is no CRS when it is the name of a file", async () => {
    const secret = path.join(test.folder, "secret.prj");
    await writeFile(secret, "GEOGCS[]");
    await expect(
      test.run(validate, { blob_path: "bronze/x.tif", source_crs: secret }),
    ).rejects.toThrow(/EPSG:4326/);
  });
});
