import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findNativeGdal } from "./native-gdal.ts";
import type { Gdal } from "./gdal.ts";
import { GdalError } from "./gdal-error.ts";

const found = await findNativeGdal(["/usr/local/bin", "/usr/bin"]);

describe.skipIf(found === undefined)(
  "GDAL's own programs (skipped where it is not installed)",
  () => {
    const gdal = found as Gdal;
    let workDir: string;
    beforeAll(async () => {
      workDir = await mkdtemp(path.join(tmpdir(), "rmhdag-gdal-"));
      const grid =
        "ncols 4\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2 3 4\n5 6 7 8\n9 10 11 12\n";
      await writeFile(path.join(workDir, "grid.asc"), grid);
    });
    afterAll(() => rm(workDir, { recursive: true, force: true }));

    it("say what they can do", () => {
      expect(gdal.version).toMatch(/^\d+\.\d+\.\d+/);
      expect(gdal.capabilities.rasterDrivers).toEqual(expect.arrayContaining(["GTiff", "COG"]));
      expect(gdal.capabilities.vectorDrivers).toEqual(
        expect.arrayContaining(["GPKG", "GeoJSON", "ESRI Shapefile"]),
      );
      expect(gdal.capabilities.codecs).toEqual(expect.arrayContaining(["DEFLATE", "LZW"]));
      expect(gdal.capabilities.rasterDrivers).not.toContain("WMS");
    });

    it("make a raster, tell their progress, and describe the result with statistics", async () => {
      const told: number[] = [];
      await gdal.run("gdal_translate", ["-of", "COG", "grid.asc", "grid.tif"], {
        workDir,
        onProgress: (percent) => told.push(percent),
      });
      expect(told[0]).toBe(0);
      expect(told.at(-1)).toBe(100);
      expect(told).toEqual(told.toSorted((a, b) => a - b));
      const { stdout } = await gdal.run("gdalinfo", ["-json", "-stats", "grid.tif"], { workDir });
      const info = JSON.parse(stdout) as { size: number[]; bands: { maximum: number }[] };
      expect(info.size).toEqual([4, 3]);
      expect(info.bands[0]?.maximum).toBe(12);
      expect((await readdir(workDir)).toSorted()).toEqual(["grid.asc", "grid.tif"]);
    });

    it("fail with their own words", async () => {
      const failing = gdal.run("gdalinfo", ["none.tif"], { workDir });
      await expect(failing).rejects.toThrow(GdalError);
      await expect(failing).rejects.toMatchObject({
        program: "gdalinfo",
        exitCode: 1,
        category: "permanent",
        message: expect.stringContaining("none.tif") as string,
      });
    });

    it("read what they are given as input", async () => {
      const options = { workDir, stdin: "500000 0\n" };
      const args = ["-s_srs", "EPSG:32633", "-t_srs", "EPSG:4326", "-output_xy"];
      const { stdout } = await gdal.run("gdaltransform", args, options);
      const [lon, lat] = stdout.trim().split(/\s+/).map(Number);
      expect([lat, lon]).toEqual([expect.closeTo(0, 6), expect.closeTo(15, 6)]);
    });
  },
);
