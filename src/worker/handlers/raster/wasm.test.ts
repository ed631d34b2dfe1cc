import { afterAll, beforeAll, expect, it } from "vitest";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createCog } from "./create-cog-reproject.ts";
import { validate } from "./validate-check-homogeneity.ts";

let test: TestContext;
beforeAll(async () => {
  test = await createTestContext({ gdal: await createGdal({ prefer: "wasm" }) });
});
afterAll(() => test.dispose());

it("without an installed GDAL a raster is judged, warped and aligned all the same", async () => {
  const blob_path = "bronze/a.tif";
  await test.storage.putFile(blob_path, fixture("raster/crs_without_code.tif"));
  const judged = await test.run(validate, { blob_path });
  expect(judged).toMatchObject({ verdict: "warning", raster_type: "continuous" });
  const made = await test.run(createCog, { blob_path, target_crs: "EPSG:4326" });
  expect(made).toMatchObject({ action: "encode", crs: "EPSG:4326" });
  const source = (made as { blob_path: string }).blob_path;
  const visual = await test.run(createCog, { blob_path: source, tier: "visualization" });
  expect(visual).toMatchObject({ crs: "EPSG:3857", facts: { block_size: [256, 256] } });
}, 120_000);

it("a compression that this GDAL cannot read is refused with that reason", async () => {
  const blob_path = "bronze/jpeg.tif";
  await test.storage.putFile(blob_path, fixture("raster/jpeg_cog.tif"));
  const judged = await test.run(validate, { blob_path, on_reject: "report" });
  expect(judged).toMatchObject({ verdict: "rejected", findings: [{ severity: "reject" }] });
}, 120_000);
