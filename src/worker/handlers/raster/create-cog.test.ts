import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RasterFacts } from "../../../core/raster/facts.ts";
import { inspectCog } from "../../../adapters/cog/inspect-cog.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createCog } from "./create-cog-reproject.ts";
import { finishCog } from "./finish-cog.ts";
import { runGdal } from "./run-gdal.ts";

let test: TestContext;
beforeAll(async () => {
  test = await createTestContext();
});
afterAll(() => test.dispose());

interface Made {
  readonly blob_path: string;
  readonly action: string;
  readonly facts: RasterFacts;
  readonly findings: readonly { code: string }[];
}

let count = 0;
async function make(name: string, params: object = {}): Promise<Made> {
  const blob_path = `bronze/${name}`;
  await test.storage.putFile(blob_path, fixture(`raster/${name}`));
  await test.storage.putFile(`${blob_path}.ovr`, fixture(`raster/${name}.ovr`)).catch(() => null);
  const output_path = `silver/made/${++count}.tif`;
  const made = (await test.run(createCog, { blob_path, output_path, ...params })) as Made;
  expect(made.blob_path).toBe(output_path);
  const verdict = await inspectCog((await test.storage.localPath(output_path))!);
  expect(verdict.errors).toEqual([]);
  return made;
}

/** As GDAL says it, apart from what our own code has read. */
async function gdalinfo(path: string): Promise<string> {
  const file = (await test.storage.localPath(path))!;
  return (await runGdal(test.context, "gdalinfo", [file], { sources: [file] })).stdout;
}

describe.skipIf(!hasGdal)("the profile follows from what the file holds (needs GDAL)", () => {
  it("terrain is warped bilinearly and compressed with the predictor for floats", async () => {
    const { facts, blob_path } = await make("dem_float32_epsg2056.tif", {
      target_crs: "EPSG:4326",
    });
    expect(facts).toMatchObject({
      crs: { code: "EPSG:4326" },
      compression: "DEFLATE",
      raster_type: "dem",
      transparency: "nodata",
    });
    expect(facts.bands[0]).toMatchObject({ data_type: "float32", nodata: -9999 });
    const { minimum, maximum } = facts.bands[0]!.statistics!;
    expect(minimum).toBeGreaterThan(1600);
    expect(maximum).toBeLessThan(2020);
    expect(await gdalinfo(blob_path)).toMatch(/PREDICTOR=3/);
  });

  it("classes are never mixed, and get no predictor", async () => {
    const { facts, blob_path } = await make("palette_custom_laea.tif", {
      target_crs: "EPSG:4326",
    });
    const info = await gdalinfo(blob_path);
    expect(info).not.toMatch(/PREDICTOR/);
    expect(info).toMatch(/Color Table/);
    expect(facts.transparency).toBe("mask");
    const source = await make("palette_custom_laea.tif");
    const classes = (made: Made) => made.facts.bands[0]!.sample!.distinct;
    expect(classes({ ...source, facts })).toBeLessThanOrEqual(classes(source));
    expect(facts.bands[0]!.statistics!.maximum).toBeLessThanOrEqual(18);
  });

  it("a good COG in the wanted CRS is copied byte for byte", async () => {
    const made = await make("valid_cog_uint16.tif", { target_crs: "EPSG:32621" });
    expect(made.action).toBe("copy");
    const [copy, original] = await Promise.all([
      test.storage.get(made.blob_path),
      test.storage.get("bronze/valid_cog_uint16.tif"),
    ]);
    expect(Buffer.compare(copy, original)).toBe(0);
  });

  it.each(["cog_no_overview.tif", "external_overview.tif", "overviews_unsorted.tif"])(
    "%s is encoded, with overviews where it needs them",
    async (name) => {
      const made = await make(name);
      expect(made.action).toBe("encode");
      const { width, overviews } = made.facts;
      expect(overviews.length).toBe(width > 512 ? 1 : 0);
    },
  );

  it("a rotated file without a CRS is placed by the given one and turned north-up", async () => {
    const { facts } = await make("rotated_no_crs.tif", { source_crs: "EPSG:32618" });
    expect(facts.crs.code).toBe("EPSG:32618");
    expect([facts.transform[1], facts.transform[3]]).toEqual([0, 0]);
    expect(facts.transform[4]).toBeLessThan(0);
    expect(facts.transparency).toBe("mask");
  });

  it("16 bits stay for analysis and are scaled to 8 for looking at", async () => {
    const { facts: analysis } = await make("rgba_uint16.tif");
    expect(analysis.bands.map(({ data_type }) => data_type)).toEqual(Array(4).fill("uint16"));
    const { facts: visual, blob_path } = await make("rgba_uint16.tif", { tier: "visualization" });
    expect(new Set(visual.bands.map(({ data_type }) => data_type))).toEqual(new Set(["uint8"]));
    expect(visual.crs.code).toBe("EPSG:3857");
    expect(visual.block_size).toEqual([256, 256]);
    expect(await gdalinfo(blob_path)).toMatch(/GoogleMapsCompatible/);
  });

  it("64 bits become 32 only when that was asked for", async () => {
    await expect(make("float64_nan.tif")).rejects.toMatchObject({
      code: "BIT_DEPTH_POLICY_VIOLATION",
    });
    const { facts } = await make("float64_nan.tif", { allow_downcast: true });
    expect(facts.bands[0]).toMatchObject({ data_type: "float32", nodata: "nan" });
  });

  it("across 180° longitudes count on, and web tiles are refused", async () => {
    const { facts } = await make("antimeridian_utm60.tif", { target_crs: "EPSG:4326" });
    expect(facts.crs.code).toBe("EPSG:4326");
    const [west, , east] = facts.bounds;
    expect([Math.floor(west), Math.ceil(east)]).toEqual([177, 182]);
    await expect(make("antimeridian_utm60.tif", { tier: "visualization" })).rejects.toMatchObject({
      code: "NOT_ALIGNABLE",
    });
  });
});

describe.skipIf(!hasGdal)("a file that cannot be read back (needs GDAL)", () => {
  async function finishDamaged(destination: string): Promise<unknown> {
    const file = path.join(test.context.workDir, "damaged.tif");
    const bytes = await readFile(fixture("raster/valid_cog_uint16.tif"));
    const { structure } = await inspectCog(fixture("raster/valid_cog_uint16.tif"));
    const [at, length] = [
      structure!.images[0].block_offsets[0]!,
      structure!.images[0].block_bytes[0]!,
    ];
    bytes.fill(0xff, at + length / 4, at + length / 2);
    await writeFile(file, bytes);
    expect((await inspectCog(file)).errors).toEqual([]);
    return finishCog(test.context, file, destination, undefined).catch((error: unknown) => error);
  }

  it("leaves nothing at its destination", async () => {
    const failure = await finishDamaged("silver/damaged/new.tif");
    expect(failure).toMatchObject({ code: "OUTPUT_CORRUPTED" });
    expect((await test.storage.list("silver/damaged/")).items).toEqual([]);
  });

  it("does not replace what is at its destination", async () => {
    await test.storage.put("silver/damaged/old.tif", Buffer.from("as it was"));
    const failure = await finishDamaged("silver/damaged/old.tif");
    expect(failure).toMatchObject({ code: "OUTPUT_CORRUPTED" });
    expect(Buffer.from(await test.storage.get("silver/damaged/old.tif")).toString()).toBe(
      "as it was",
    );
  });
});

it("outputs go to silver or gold only", async () => {
  await test.storage.putFile("bronze/a.tif", fixture("raster/dem_float32_epsg2056.tif"));
  for (const output of [
    { output_path: "bronze/b.tif", output_container: "bronze" },
    { output_path: "../x.tif" },
  ]) {
    await expect(test.run(createCog, { blob_path: "bronze/a.tif", ...output })).rejects.toThrow();
  }
});
