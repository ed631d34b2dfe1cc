import { afterAll, beforeAll, expect, it } from "vitest";
import { chooseProfile } from "../../../core/raster/profile.ts";
import { createTestContext, noGdal } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { encode } from "./encode.ts";

let test: TestContext;
beforeAll(async () => {
  test = await createTestContext({ gdal: noGdal });
});
afterAll(() => test.dispose());

it("a disk without room fails the task before it starts, with that reason and the numbers", async () => {
  const profile = chooseProfile({
    tier: "analysis",
    rasterType: "dem",
    dataType: "float32",
    hasPalette: false,
    codecs: new Set(["deflate"]),
  });
  const band = {
    name: "b1",
    description: null,
    color: "gray",
    nodata: null,
    unit: null,
    scale: null,
    offset: null,
    statistics: null,
    sample: null,
    data_type: "float32" as const,
  };
  const plan = {
    isCopy: false,
    warp: undefined,
    image: undefined,
    imageAlpha: undefined,
    nodata: null,
    sourceWkt2: undefined,
    translate: [],
    addAlpha: false,
  };
  await expect(
    encode(test.context, { file: "in.tif", driver: "GTiff" }, "out.tif", {
      plan,
      profile,
      bands: [band],
      threads: 1,
      progress: [0, 1],
      size: [100_000_000, 100_000_000],
    }),
  ).rejects.toMatchObject({
    code: "DISK_FULL",
    details: { needed_bytes: expect.any(Number) as unknown },
  });
});
