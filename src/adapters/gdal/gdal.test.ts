import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait.ts";
import { inspectCog } from "../cog/inspect-cog.ts";
import type { Gdal } from "./gdal.ts";
import { GdalError, GdalTimeout } from "./gdal-error.ts";
import { findNativeGdal, readDrivers } from "./native-gdal.ts";
import { createWasmGdal } from "./wasm-gdal.ts";

const folders = ["/usr/local/bin", "/usr/bin"];
const kinds = ["bubblewrap", "namespaces", "none"] as const;
const natives = await Promise.all(
  kinds.map(async (kind) => ({
    kind,
    native: await findNativeGdal(folders, { sandboxes: [kind] }),
  })),
);
const native = natives.find((each) => each.native !== undefined)?.native;
const wasm = createWasmGdal();
let workDir: string;
beforeAll(async () => {
  workDir = await mkdtemp(path.join(tmpdir(), "rmhdag-gdal-"));
  const rows = Array.from({ length: 600 }, (_, y) =>
    Array.from({ length: 600 }, (_, x) => (x * 7 + y * 13) % 251).join(" "),
  );
  const head = "ncols 600\nnrows 600\nxllcorner 500000\nyllcorner 5000000\ncellsize 10\n";
  await writeFile(path.join(workDir, "grid.asc"), head + rows.join("\n"));
  await writeFile(path.join(workDir, "points.csv"), "name,lon,lat\na,15,1\nb,16,2\n");
});
afterAll(() => rm(workDir, { recursive: true, force: true }));

describe.each(natives)("native GDAL, $kind (needs GDAL and $kind)", ({ native }) => {
  describe.skipIf(native === undefined)("runs", () => {
    describeGdal(native!);
    describeEnd(native!);
  });
});

describe("GDAL as WebAssembly", () => {
  describeGdal(wasm);

  it("has the drivers and compressions that are recorded for it", async () => {
    const raster = await wasm.run("gdalinfo", ["--formats"], { workDir });
    const vector = await wasm.run("ogrinfo", ["--formats"], { workDir });
    expect(readDrivers(raster.stdout)).toEqual(wasm.capabilities.rasterDrivers);
    expect(readDrivers(vector.stdout)).toEqual(wasm.capabilities.vectorDrivers);
    const args = ["-f", "GPX", "-dsco", "GPX_USE_EXTENSIONS=YES", "out.gpx", "points.csv"];
    await wasm.run("ogr2ogr", [...points, ...args], { workDir });
    expect(await readFile(path.join(workDir, "out.gpx"), "utf8")).toContain(
      `creator="GDAL ${wasm.version}"`,
    );
  });

  it("says which compression it lacks", async () => {
    const args = ["-of", "GTiff", "-co", "COMPRESS=ZSTD", "grid.asc", "zstd.tif"];
    await expect(wasm.run("gdal_translate", args, { workDir })).rejects.toThrow(GdalError);
    await expect(wasm.run("gdallocationinfo", ["grid.asc"], { workDir })).rejects.toThrow(
      /install gdal-bin/,
    );
  });

  it("is stopped by ending its process, and works again after that", async () => {
    const aborter = new AbortController();
    const args = ["-t_srs", "EPSG:3857", "-s_srs", "EPSG:32633", "-tr", "0.5", "0.5"];
    const running = wasm.run("gdalwarp", [...args, "grid.asc", "huge.tif"], {
      workDir,
      signal: aborter.signal,
      onProgress: () => {
        aborter.abort(new Error("enough"));
      },
    });
    await expect(running).rejects.toThrow("enough");
    const { stdout } = await wasm.run("gdalinfo", ["-json", "grid.asc"], { workDir });
    expect(JSON.parse(stdout)).toMatchObject({ size: [600, 600] });
  });
});

describe.skipIf(native === undefined)("both (needs GDAL)", () => {
  it("make the same pixels from the same arguments", async () => {
    const sums: unknown[] = [];
    for (const gdal of [native!, wasm]) {
      const file = `same-${gdal.engine}.tif`;
      const args = ["-s_srs", "EPSG:32633", "-t_srs", "EPSG:3857", "-r", "bilinear", "-of", "COG"];
      await gdal.run("gdalwarp", [...args, "-co", "COMPRESS=DEFLATE", "grid.asc", file], {
        workDir,
      });
      const { stdout } = await gdal.run("gdalinfo", ["-json", "-checksum", file], { workDir });
      const { size, bands } = JSON.parse(stdout) as {
        size: unknown;
        bands: { checksum: number }[];
      };
      sums.push({ size, checksum: bands[0]?.checksum });
    }
    expect(sums[0]).toEqual(sums[1]);
  });
});

/** Stopping, by abort and by timeout, of a program that waits for its input for ever. */
function describeEnd(gdal: Gdal): void {
  it("is stopped with all that it has started", async () => {
    const aborter = new AbortController();
    // The name in the arguments finds the processes again.
    const fifo = path.join(workDir, `never-${gdal.sandbox}.vrt`);
    await promisify(execFile)("mkfifo", [fifo]);
    const running = gdal.run("gdalinfo", [fifo], { workDir, signal: aborter.signal });
    const isThere = async () => (await processesWith(fifo)).length > 0;
    await waitFor(isThere, { what: "the program" });
    aborter.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    expect(await processesWith(fifo)).toEqual([]);
    await expect(gdal.run("gdalinfo", [fifo], { workDir, timeoutMs: 100 })).rejects.toThrow(
      GdalTimeout,
    );
    expect(await processesWith(fifo)).toEqual([]);
    await rm(fifo);
  });
}

const points = [
  "-oo",
  "X_POSSIBLE_NAMES=lon",
  "-oo",
  "Y_POSSIBLE_NAMES=lat",
  "-a_srs",
  "EPSG:4326",
];

function describeGdal(gdal: Gdal): void {
  const options = () => ({ workDir });

  it("says what it can do", () => {
    expect(gdal.version).toMatch(/^\d+\.\d+\.\d+/);
    const { rasterDrivers, vectorDrivers, codecs } = gdal.capabilities;
    expect(rasterDrivers).toEqual(expect.arrayContaining(["GTiff", "COG"]));
    expect(vectorDrivers).toEqual(expect.arrayContaining(["GPKG", "GeoJSON", "ESRI Shapefile"]));
    expect(codecs).toEqual(expect.arrayContaining(["DEFLATE", "LZW"]));
    // A file must not be able to make it fetch from elsewhere.
    expect(rasterDrivers).not.toContain("WMS");
  });

  it("warps, reports its progress, and describes the result without leaving anything beside it", async () => {
    const reported: number[] = [];
    const before = await readdir(workDir);
    const args = ["-s_srs", "EPSG:32633", "-t_srs", "EPSG:4326", "-of", "COG"];
    await gdal.run("gdalwarp", [...args, "grid.asc", "warped.tif"], {
      workDir,
      onProgress: (percent) => reported.push(percent),
    });
    expect(reported[0]).toBe(0);
    expect(reported.at(-1)).toBe(100);
    expect(reported).toEqual(reported.toSorted((a, b) => a - b));
    const { stdout } = await gdal.run("gdalinfo", ["-json", "-stats", "warped.tif"], options());
    const info = JSON.parse(stdout) as { stac?: unknown; bands: { maximum: number }[] };
    expect(info.bands[0]?.maximum).toBeGreaterThan(200);
    expect((await inspectCog(path.join(workDir, "warped.tif"))).valid).toBe(true);
    expect(await readdir(workDir)).toEqual([...before, "warped.tif"].toSorted());
    await rm(path.join(workDir, "warped.tif"));
  });

  it("takes absolute names, names with spaces, and options with several values", async () => {
    const [from, to] = [path.join(workDir, "grid.asc"), path.join(workDir, "a b.tif")];
    const args = ["-srcwin", "10", "20", "100", "50", "-scale", "0", "250", "0", "100"];
    await gdal.run("gdal_translate", [...args, "-ot", "Byte", from, to], options());
    const { stdout } = await gdal.run("gdalinfo", ["-json", to], options());
    expect(JSON.parse(stdout)).toMatchObject({ size: [100, 50], driverShortName: "GTiff" });
    await rm(to);
  });

  it("translates vectors, with open options, and appends to what is there", async () => {
    const make = ["-f", "GPKG", "-nln", "places", "places.gpkg", "points.csv"];
    await gdal.run("ogr2ogr", [...points, ...make], options());
    const append = ["-append", "-nln", "places", "places.gpkg", "points.csv", "points"];
    await gdal.run("ogr2ogr", [...points, ...append], options());
    const { stdout } = await gdal.run("ogrinfo", ["-so", "-al", "places.gpkg"], options());
    expect(stdout).toContain("Feature Count: 4");
    expect(stdout).toContain("Geometry: Point");
    await rm(path.join(workDir, "places.gpkg"));
  });

  it("builds mosaics and rasterises", async () => {
    await gdal.run("gdalbuildvrt", ["all.vrt", path.join(workDir, "grid.asc")], options());
    const { stdout } = await gdal.run("gdalinfo", ["-json", "all.vrt"], options());
    expect(JSON.parse(stdout)).toMatchObject({ size: [600, 600] });
    await gdal.run("ogr2ogr", [...points, "-f", "GeoJSON", "p.geojson", "points.csv"], options());
    const burn = [
      "-burn",
      "7",
      "-te",
      "14",
      "0",
      "17",
      "3",
      "-ts",
      "10",
      "10",
      "-ot",
      "Byte",
      "p.geojson",
      "burnt.tif",
    ];
    await gdal.run("gdal_rasterize", burn, options());
    const info = await gdal.run("gdalinfo", ["-json", "-stats", "burnt.tif"], options());
    expect(JSON.parse(info.stdout)).toMatchObject({ bands: [{ maximum: 7 }] });
    for (const name of ["all.vrt", "p.geojson", "burnt.tif"]) await rm(path.join(workDir, name));
  });

  it("reads what it is given as input", async () => {
    const args = ["-s_srs", "EPSG:32633", "-t_srs", "EPSG:4326", "-output_xy"];
    const stdin = "500000 0\n600000 0\n";
    const { stdout } = await gdal.run("gdaltransform", args, { workDir, stdin });
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ").map(Number));
    expect(lines).toEqual([
      [expect.closeTo(15, 6), expect.closeTo(0, 6)],
      [expect.closeTo(15.8986377, 6), expect.closeTo(0, 6)],
    ]);
  });

  it("has only the drivers that a run names, and all of them again in the next run", async () => {
    const vrt = `<VRTDataset rasterXSize="1" rasterYSize="1"><VRTRasterBand dataType="Byte" band="1">
      <SimpleSource><SourceFilename relativeToVRT="1">grid.asc</SourceFilename></SimpleSource>
      </VRTRasterBand></VRTDataset>`;
    await writeFile(path.join(workDir, "named.vrt"), vrt);
    const drivers = ["AAIGrid", "GTiff", "COG"];
    const toCog = ["-of", "COG", "grid.asc", "named.tif"];
    await gdal.run("gdal_translate", toCog, { workDir, drivers });
    await gdal.run("gdalinfo", ["named.tif"], { workDir, drivers: ["GTiff"] });
    for (const [file, allowed] of [
      ["grid.asc", ["GTiff"]],
      ["named.vrt", drivers],
      ["named.tif", []],
    ] as const) {
      await expect(
        gdal.run("gdalinfo", [file], { workDir, drivers: allowed }),
      ).rejects.toMatchObject({ code: "NOT_READABLE" });
    }
    await expect(
      gdal.run("ogrinfo", ["points.csv"], { workDir, drivers: ["GPKG"] }),
    ).rejects.toThrow(GdalError);
    await gdal.run("ogrinfo", ["points.csv"], { workDir, drivers: ["CSV"] });
    await gdal.run("gdalinfo", ["named.vrt"], options());
    for (const name of ["named.vrt", "named.tif"]) await rm(path.join(workDir, name));
  });

  it("fails with its own words", async () => {
    const failing = gdal.run("gdalinfo", ["none.tif"], options());
    await expect(failing).rejects.toThrow(GdalError);
    await expect(failing).rejects.toMatchObject({
      program: "gdalinfo",
      exitCode: 1,
      category: "permanent",
      message: expect.stringContaining("none.tif") as string,
    });
    await copyFile(path.join(workDir, "points.csv"), path.join(workDir, "not.tif"));
    await expect(gdal.run("gdalinfo", ["not.tif"], options())).rejects.toMatchObject({
      code: "NOT_READABLE",
    });
    await rm(path.join(workDir, "not.tif"));
  });

  it("does not start when it is stopped already", async () => {
    const signal = AbortSignal.abort(new Error("too late"));
    const late = gdal.run("gdalinfo", ["grid.asc"], { workDir, signal });
    await expect(late).rejects.toThrow("too late");
  });
}

async function processesWith(text: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "stat,args"]);
  return stdout.split("\n").filter((line) => line.includes(text) && !line.startsWith("Z"));
}
