import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RasterFacts } from "../../../core/raster/facts.ts";
import type { RasterTile } from "../../../core/raster/tiling.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createCog } from "./create-cog-reproject.ts";
import { generateTilingScheme } from "./generate-tiling-scheme.ts";
import { mosaic } from "./mosaic.ts";
import { processTile, processTileBatch } from "./process-tile.ts";
import { runGdal } from "./run-gdal.ts";

let test: TestContext;
beforeAll(async () => {
  test = await createTestContext();
});
afterAll(() => test.dispose());

interface Written {
  readonly blob_path: string;
  readonly facts: RasterFacts;
  readonly reused: boolean;
}
interface Scheme {
  readonly tile_list: (RasterTile & { bounds: number[] })[];
  readonly width: number;
  readonly height: number;
  readonly bounds: number[];
}

/** Of every band, and of the mask: equal only where all pixels are. */
async function checksums(path: string): Promise<string[]> {
  const file = (await test.storage.localPath(path))!;
  const { stdout } = await runGdal(test.context, "gdalinfo", ["-checksum", file], {
    sources: [file],
  });
  return [...stdout.matchAll(/Checksum=(\d+)/g)].map(([, sum]) => sum!);
}

async function cut(name: string, params: object): Promise<{ scheme: Scheme; common: object }> {
  const blob_path = `bronze/${name}`;
  await test.storage.putFile(blob_path, fixture(`raster/${name}`));
  const common = { blob_path, ...params };
  const scheme = await test.run(generateTilingScheme, { ...common, tile_size_mb: 0.1 });
  return { scheme: scheme as Scheme, common };
}

describe.skipIf(!hasGdal)("tiles put together (needs GDAL)", () => {
  it.each([
    ["rgb_utm18_nodata0.tif", { target_crs: "EPSG:4326" }],
    ["nodata_unset.tif", { target_crs: "EPSG:4326" }],
  ])("%s are pixel by pixel what one piece is", async (name, params) => {
    const { scheme, common } = await cut(name, params);
    const { tile_list, width, height } = scheme;
    expect(tile_list.length).toBeGreaterThan(1);
    const area = tile_list.reduce((sum, { window: [, , w, h] }) => sum + w * h, 0);
    expect(area).toBe(width * height);
    const tiles: Written[] = [];
    for (const tile of tile_list) {
      const made = await test.run(processTile, { ...common, tile, tile_index: tile.index });
      tiles.push(made as Written);
    }
    const [merged, direct] = [
      (await test.run(mosaic, { tiles, raster_type: tiles[0]!.facts.raster_type })) as Written,
      (await test.run(createCog, common)) as Written,
    ];
    expect([merged.facts.width, merged.facts.height]).toEqual([width, height]);
    expect(merged.facts.bounds.map((value) => value.toFixed(6))).toEqual(
      direct.facts.bounds.map((value) => value.toFixed(6)),
    );
    expect(await checksums(merged.blob_path)).toEqual(await checksums(direct.blob_path));
  });

  it("lie from north to south, as their rows say", async () => {
    const { scheme } = await cut("rgb_utm18_nodata0.tif", { target_crs: "EPSG:4326" });
    const [first] = scheme.tile_list;
    const last = scheme.tile_list.at(-1)!;
    expect([first!.bounds[0], first!.bounds[3]]).toEqual([scheme.bounds[0], scheme.bounds[3]]);
    expect(last.bounds[1]).toBeLessThan(first!.bounds[1]!);
  });
});

describe.skipIf(!hasGdal)("a batch that was interrupted (needs GDAL)", () => {
  it("finds the finished tiles and makes only the others", async () => {
    const { scheme, common } = await cut("rgb_utm18_nodata0.tif", { target_crs: "EPSG:3857" });
    const { tile_list } = scheme;
    const prefix = { output_prefix: "silver/batch" };
    const two = { ...common, ...prefix, tiles: tile_list.slice(0, 2) };
    await test.run(processTileBatch, two);
    expect(test.checkpoints.at(-1)).toMatchObject({ data: { done: [0, 1] } });
    const before = await test.storage.list("silver/batch/");
    const all = { ...common, ...prefix, tiles: tile_list };
    const { tiles } = (await test.run(processTileBatch, all)) as { tiles: Written[] };
    expect(tiles.map(({ reused }) => reused)).toEqual(tile_list.map(({ index }) => index < 2));
    const after = new Map(
      (await test.storage.list("silver/batch/")).items.map((item) => [item.path, item]),
    );
    for (const item of before.items) expect(after.get(item.path)).toEqual(item);
  });

  it("makes a tile again when what lies in its place is damaged", async () => {
    const { scheme, common } = await cut("rgb_utm18_nodata0.tif", { target_crs: "EPSG:3857" });
    const params = {
      ...common,
      output_prefix: "silver/damaged",
      tile: scheme.tile_list[3]!,
      tile_index: 3,
    };
    const made = (await test.run(processTile, params)) as Written;
    const bytes = await test.storage.get(made.blob_path);
    await test.storage.put(made.blob_path, bytes.subarray(0, bytes.length / 2));
    const again = (await test.run(processTile, params)) as Written;
    expect([again.reused, again.facts.checksum]).toEqual([false, made.facts.checksum]);
  });
});
