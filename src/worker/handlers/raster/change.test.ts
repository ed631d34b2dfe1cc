import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RasterFacts } from "../../../core/raster/facts.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { blobToMount } from "./blob-to-mount.ts";
import { checkHomogeneity, validate } from "./validate-check-homogeneity.ts";
import { clip } from "./clip.ts";
import { reproject } from "./create-cog-reproject.ts";

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
    expect(facts.width).toBeLessThan(1024);
    const alpha = facts.bands.find(({ color }) => color === "alpha")!.statistics!;
    expect([alpha.minimum, alpha.maximum]).toEqual([0, 255]);
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
