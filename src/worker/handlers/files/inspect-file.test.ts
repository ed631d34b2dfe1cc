import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rasterAttacks, vectorAttacks } from "../../../../test/support/attack-files.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createWasmGdal } from "../../../adapters/gdal/wasm-gdal.ts";
import type { InspectedFile } from "../../../core/handlers/files.ts";
import { inspectFile } from "./inspect-file.ts";

const run = promisify(execFile);
let test: TestContext;
beforeAll(async () => {
  test = await createTestContext();
});
afterAll(() => test.dispose());

async function inspect(name: string, given: TestContext = test): Promise<InspectedFile> {
  const kind = name.startsWith("raster/") ? "raster" : "vector";
  await given.storage.putFile(`bronze/${name}`, fixture(name));
  const params = { blob_path: `bronze/${name}`, kind };
  return (await given.run(inspectFile, params)) as InspectedFile;
}

/** Red, green, blue and alpha of every pixel. */
async function decode({ thumbnail }: InspectedFile) {
  if (thumbnail === null) throw new Error(`There is no picture. ${test.logged.join("\n")}`);
  const image = sharp(Buffer.from(thumbnail.base64, "base64")).ensureAlpha().raw();
  const { data, info } = await image.toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([thumbnail.width, thumbnail.height]);
  const covered = [...data.filter((_, index) => index % 4 === 3)].map((alpha) => alpha > 0);
  return { data, covered, width: info.width, height: info.height };
}

/** The values of one band of a file of GDAL's, as plain bytes. */
async function plainBytes(name: string, program: string, args: readonly string[]) {
  const file = path.join(test.folder, name);
  await run(program, ["-q", "-of", "ENVI", "-ot", "Byte", ...args, file]);
  return readFile(file);
}

describe.skipIf(!hasGdal)("inspect_file (needs GDAL)", () => {
  it("describes a DEM, and draws it where GDAL has values", async () => {
    const name = "raster/dem_float32_epsg2056.tif";
    const found = await inspect(name);
    const { stdout } = await run("gdalinfo", ["-json", fixture(name)]);
    const info = JSON.parse(stdout) as { size: [number, number]; bands: object[] };
    expect(found).toMatchObject({
      kind: "raster",
      crs: "EPSG:2056",
      raster: {
        width: info.size[0],
        height: info.size[1],
        band_count: info.bands.length,
        data_type: "float32",
      },
    });
    const { covered, width, height } = await decode(found);
    expect(Math.max(width, height)).toBeLessThanOrEqual(256);
    const size = ["-outsize", String(width), String(height)];
    const args = ["-b", "mask", ...size, fixture(name)];
    const mask = await plainBytes("mask.img", "gdal_translate", args);
    expect(covered).toEqual([...mask].map((value) => value > 0));
  });

  it("draws an image in its own colours", async () => {
    const name = "raster/rgb_utm18_nodata0.tif";
    const { data, covered, width, height } = await decode(await inspect(name));
    const size = ["-outsize", String(width), String(height)];
    for (const band of [1, 2, 3]) {
      const args = ["-b", String(band), ...size, fixture(name)];
      const wanted = await plainBytes(`band${band}.img`, "gdal_translate", args);
      let sum = 0;
      covered.forEach((isCovered, index) => {
        if (isCovered) sum += Math.abs(data[index * 4 + band - 1]! - wanted[index]!);
      });
      // WebP keeps colours within a few steps of 255.
      expect(sum / covered.filter(Boolean).length).toBeLessThan(8);
    }
  });

  it("draws palettes, 16 bits, complex numbers and files without a place", async () => {
    for (const name of [
      "palette_custom_laea",
      "rgba_uint16",
      "complex_float32",
      "rotated_no_crs",
    ]) {
      const found = await inspect(`raster/${name}.tif`);
      const { data } = await decode(found);
      expect([name, new Set(data).size > 2]).toEqual([name, true]);
    }
  });

  it("counts and draws the features of a zipped shapefile where GDAL burns them", async () => {
    const name = "vector/wilderness_shapefile.zip";
    const found = await inspect(name);
    expect(found).toMatchObject({
      kind: "vector",
      crs: "EPSG:4326",
      layers: [{ name: "coutwildrnp", geometry_type: "Polygon", features: 67 }],
      layer_count: 1,
    });
    const { covered, data, width, height } = await decode(found);
    // The extent that ogrinfo prints, with our margin of 2 %.
    const margin = (113.564247 - 104.970871) * 0.02;
    const area = [
      -113.564247 - margin,
      37.068981 - margin,
      -104.970871 + margin,
      41.996277 + margin,
    ];
    const args = ["-burn", "1", "-at", "-te", ...area.map(String)];
    const source = `/vsizip/${fixture(name)}`;
    const ts = ["-ts", String(width), String(height), source];
    const burned = await plainBytes("burned.img", "gdal_rasterize", [...args, ...ts]);
    const differ = covered.filter((isCovered, index) => isCovered !== burned[index]! > 0).length;
    expect(differ / covered.length).toBeLessThan(0.005);
    // Outlines are darker than areas.
    const reds = new Set(data.filter((_, at) => at % 4 === 0 && covered[at / 4]));
    expect(Math.min(...reds)).toBeLessThan(0x40);
    expect(Math.max(...reds)).toBeGreaterThan(0x60);
  });

  it.each([
    ["vector/land_110m.geojson", 127, "EPSG:4326"],
    ["vector/first_geometry_null.gpkg", 2, null],
    ["vector/squares_utm33_zstd.parquet", 3, "EPSG:32633"],
    ["vector/points_zm.shp", 1, null],
  ])("describes %s", async (name, features, crs) => {
    const found = await inspect(name);
    expect([found.crs, found.layers.map((layer) => layer.features)]).toEqual([crs, [features]]);
    expect((await decode(found)).covered).toContain(true);
  });

  it("draws the same with the WebAssembly engine", async () => {
    const wasm = await createTestContext({ gdal: createWasmGdal() });
    try {
      for (const name of ["raster/dem_float32_epsg2056.tif", "vector/land_110m.geojson"]) {
        const [ours, theirs] = await Promise.all([inspect(name), inspect(name, wasm)]);
        const [a, b] = await Promise.all([decode(ours), decode(theirs)]);
        const differ = a.covered.filter((isCovered, index) => isCovered !== b.covered[index]);
        expect([name, differ.length / a.covered.length < 0.01]).toEqual([name, true]);
      }
    } finally {
      await wasm.dispose();
    }
  }, 60_000);

  it("refuses what is damaged or refers to other places, with the reason", async () => {
    await expect(inspect("raster/truncated.tif")).rejects.toMatchObject({ code: "FILE_CORRUPTED" });
    await expect(inspect("raster/header_bomb_65535.tif")).rejects.toMatchObject({
      code: "HEADER_IMPLAUSIBLE",
    });
    const canary = { file: "/etc/hostname", url: "http://127.0.0.1:9" };
    const attacks = [
      ...rasterAttacks(canary).map((attack) => ({ ...attack, kind: "raster" })),
      ...vectorAttacks(canary).map((attack) => ({ ...attack, kind: "vector" })),
    ].filter(({ isDisguise }) => isDisguise !== true);
    for (const { name, files, code, kind } of attacks) {
      for (const [file, content] of Object.entries(files)) {
        await test.storage.put(`bronze/${name}/${file}`, Buffer.from(content));
      }
      const blob_path = `bronze/${name}/${Object.keys(files)[0]!}`;
      const ended = await test.run(inspectFile, { blob_path, kind }).then(
        () => undefined,
        (error: unknown) => (error as { code: string }).code,
      );
      expect([name, ended]).toEqual([name, code]);
    }
  }, 60_000);
});
