import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RasterFacts } from "../../../core/raster/facts.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { blobToMount } from "./blob-to-mount.ts";
import { checkHomogeneity, validate } from "./validate-check-homogeneity.ts";
import { clip } from "./clip.ts";
import { statsZonal } from "./stats-zonal.ts";
import { createCog, reproject } from "./create-cog-reproject.ts";

let test: TestContext;
beforeAll(async () => {
  test = await createTestContext();
});
afterAll(() => test.dispose());

interface Written {
  readonly facts: RasterFacts;
  readonly crs: string;
}

async function put(name: string): Promise<string> {
  await test.storage.putFile(`bronze/${name}`, fixture(`raster/${name}`));
  return `bronze/${name}`;
}

describe("statistics of areas", () => {
  it("are those that GDAL computes of the same pixels, and none outside of the raster", async () => {
    const blob_path = await put("dem_float32_epsg2056.tif");
    const whole = { blob_path, boundary: [2_573_250, 1_085_250, 2_573_500, 1_085_750] };
    const { facts } = (await test.run(clip, { ...whole, boundary_crs: "EPSG:2056" })) as Written;
    const [west, south, east, north] = facts.bounds;
    const ring = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ];
    const feature = (coordinates: number[][], name: string) => ({
      type: "Feature",
      properties: { name },
      geometry: { type: "Polygon", coordinates: [coordinates] },
    });
    const far = ring.map(([x = 0, y = 0]) => [x + 100_000, y]);
    const zones = {
      type: "FeatureCollection",
      features: [feature(ring, "inside"), feature(far, "outside")],
    };
    const { statistics } = facts.bands[0]!;
    const found = (await test.run(statsZonal, { blob_path, zones, zones_crs: "EPSG:2056" })) as {
      zones: { properties: object; count: number; mean: number; min: number; max: number }[];
    };
    const [inside, outside] = found.zones;
    expect(inside).toMatchObject({ properties: { name: "inside" }, count: 100 * 200 });
    expect(inside!.mean).toBeCloseTo(statistics!.mean, 3);
    expect(inside!.min).toBeCloseTo(statistics!.minimum, 3);
    expect(inside!.max).toBeCloseTo(statistics!.maximum, 3);
    expect(outside).toMatchObject({ properties: { name: "outside" }, count: 0, mean: null });
  });
});

describe("a raster is", () => {
  it("warped to another CRS with the resampling that was asked for", async () => {
    const blob_path = await put("dem_float32_epsg2056.tif");
    const warp = async (resampling: string) =>
      (await test.run(reproject, { blob_path, resampling })) as Written;
    const [nearest, cubic] = [await warp("nearest"), await warp("cubic")];
    expect(nearest.crs).toBe("EPSG:4326");
    expect(nearest.facts.bands[0]!.statistics!.mean).not.toBe(
      cubic.facts.bands[0]!.statistics!.mean,
    );
  });

  it("warped and cut without what its mask hides", async () => {
    const blob_path = "bronze/mask_classes.tif";
    await test.storage.putFile(blob_path, fixture("families/mask_classes.tif"));
    const boundary = {
      type: "Polygon",
      coordinates: [
        [
          [9, 46.95],
          [9.02, 46.95],
          [9.01, 46.94],
          [9, 46.95],
        ],
      ],
    };
    const warped = (await test.run(reproject, { blob_path })) as Written;
    const cut = (await test.run(clip, { blob_path, boundary })) as Written;
    for (const { facts } of [warped, cut]) {
      expect(facts.transparency).toBe("mask");
      // Hidden pixels are 0, and classes are 1 to 7.
      expect(facts.bands[0]!.statistics).toMatchObject({ minimum: 1, maximum: 7 });
    }
    expect(warped.facts.bands[0]!.statistics!.valid_percent).toBeCloseTo(50, -1);
  });

  it("cut to bounds without moving a pixel", async () => {
    const blob_path = await put("dem_float32_epsg2056.tif");
    const boundary = [2_573_250, 1_085_250, 2_573_500, 1_085_750];
    const params = { blob_path, boundary, boundary_crs: "EPSG:2056" };
    const { facts } = (await test.run(clip, params)) as Written;
    expect([facts.width, facts.height, facts.bounds]).toEqual([100, 200, boundary]);
  });

  it("cut to a polygon, with nothing outside of it", async () => {
    const blob_path = await put("cog_no_overview.tif");
    const boundary = {
      type: "Polygon",
      coordinates: [
        [
          [-61.566, 16.227],
          [-61.5632, 16.227],
          [-61.5646, 16.229],
          [-61.566, 16.227],
        ],
      ],
    };
    const { facts } = (await test.run(clip, { blob_path, boundary })) as Written;
    await test.storage.put("bronze/cut.geojson", Buffer.from(JSON.stringify(boundary)));
    const file = { blob_path, boundary: "bronze/cut.geojson", output_path: "silver/by_file.tif" };
    const byFile = (await test.run(clip, file)) as Written;
    expect(byFile.facts.bands).toEqual(facts.bands);
    const link = { ...boundary, crs: { type: "link", properties: { href: "http://127.0.0.1:9" } } };
    await test.storage.put("bronze/cut.geojson", Buffer.from(JSON.stringify(link)));
    await expect(test.run(clip, file)).rejects.toMatchObject({ code: "EXTERNAL_REFERENCE" });
    expect(facts.width).toBeLessThan(1024);
    const alpha = facts.bands.find(({ color }) => color === "alpha")!.statistics!;
    expect([alpha.minimum, alpha.maximum]).toEqual([0, 255]);
  });

  it("placed by the world file beside it", async () => {
    const { gdal, workDir } = test.context;
    const source = fixture("raster/rgb_utm18_nodata0.tif");
    const picture = path.join(workDir, "picture.png");
    const options = { workDir, sources: [source], drivers: ["GTiff", "PNG"] };
    await gdal.run("gdal_translate", ["-q", "-of", "PNG", source, picture], options);
    await test.storage.putFile("bronze/picture.png", picture);
    await test.storage.put("bronze/picture.pgw", Buffer.from("10\n0\n0\n-10\n500005\n4999995\n"));
    const params = { blob_path: "bronze/picture.png", source_crs: "EPSG:32618" };
    const { facts } = (await test.run(createCog, params)) as Written;
    expect(facts.bounds).toEqual([500_000, 5_000_000 - 7180, 507_910, 5_000_000]);
    await test.storage.put("bronze/picture.pgw", Buffer.from("/etc/passwd"));
    await expect(test.run(createCog, params)).rejects.toMatchObject({ code: "SIDECAR_INVALID" });
  });

  it("refused with a reason where the boundary does not meet it", async () => {
    const blob_path = await put("dem_float32_epsg2056.tif");
    const boundary = { type: "Point", coordinates: [0, 0] };
    await expect(test.run(clip, { blob_path, boundary })).rejects.toMatchObject({
      code: "BOUNDARY_NOT_USABLE",
    });
  });

  it("fetched to the mount, and nowhere else", async () => {
    const blob_path = await put("truncated.tif");
    const { local_path } = (await test.run(blobToMount, { blob_path })) as { local_path: string };
    expect(local_path.startsWith(test.context.mountDir)).toBe(true);
    await expect(
      test.run(blobToMount, { blob_path, mount_path: "../escaped.tif" }),
    ).rejects.toMatchObject({ code: "MOUNT_PATH_NOT_ALLOWED" });
  });

  it("kept out of a collection that it does not fit", async () => {
    const members = [];
    for (const name of ["rgb_utm18_nodata0.tif", "dem_float32_epsg2056.tif"]) {
      members.push(await test.run(validate, { blob_path: await put(name) }));
    }
    await expect(test.run(checkHomogeneity, { members })).rejects.toMatchObject({
      code: "COLLECTION_NOT_HOMOGENEOUS",
      message: expect.stringContaining("Number of bands: 1") as unknown,
    });
    expect(await test.run(checkHomogeneity, { members: [members[0], members[0]] })).toMatchObject({
      count: 2,
      crs: "EPSG:32618",
    });
  });
});
