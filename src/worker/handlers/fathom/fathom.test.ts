import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { writeTiff } from "../../../../test/support/tiff.ts";
import { bandStack } from "./band-stack.ts";
import { spatialMerge } from "./spatial-merge.ts";
import { stacRegister } from "./stac-register.ts";
import { gridInventory, tileInventory } from "./tile-grid-inventory.ts";

const periods = [5, 1000];
const configuration = { return_periods: periods };
const side = 64;
let database: TestDatabase;
let test: TestContext;
beforeAll(async () => {
  database = await createTestDatabase();
  test = await createTestContext({ database: database.db });
});
afterAll(async () => {
  await test.dispose();
  await database.drop();
});

/** The value tells tile, return period and pixel, so that a pixel in a wrong place is seen. */
const depth = (lat: number, lon: number, years: number, index: number) =>
  lat * 100_000 + lon * 10_000 + years + (index % side) / 64;

const nameOf = (lat: number, lon: number, years: number) =>
  `bronze/fathom/2050/1in${years}-FLUVIAL-DEFENDED-CM-2050-SSP2_4.5_n${String(lat).padStart(2, "0")}e${String(lon).padStart(3, "0")}.tif`;

async function putTile(lat: number, lon: number): Promise<void> {
  for (const years of periods) {
    const band = Float32Array.from({ length: side * side }, (_, index) =>
      index % 5 === 0 ? -9999 : depth(lat, lon, years, index),
    );
    const images = [{ width: side, height: side, block: 64, bands: [band] }];
    const place = {
      epsg: 4326,
      origin: [lon, lat + 1] as const,
      pixel: [1 / side, 1 / side] as const,
    };
    await test.storage.put(
      nameOf(lat, lon, years),
      writeTiff({ images, ...place, nodata: "-9999" }),
    );
  }
}

interface Key {
  readonly product: string;
  readonly place: string;
}
interface Run {
  readonly stacked: readonly string[];
  readonly merged: readonly string[];
  readonly items: readonly string[];
  readonly findings: readonly { code: string }[];
}

async function runAll(): Promise<Run> {
  const dataset = "global";
  const tiles = (await test.run(tileInventory, {
    dataset,
    prefix: "bronze/fathom/",
    configuration,
  })) as {
    tiles: Key[];
    findings: { code: string }[];
  };
  for (const tile of tiles.tiles) await test.run(bandStack, tile);
  const grid = (await test.run(gridInventory, { dataset })) as { cells: Key[] };
  for (const cell of grid.cells) await test.run(spatialMerge, cell);
  const register = { dataset, collection_id: "fathom" };
  const { item_ids } = (await test.run(stacRegister, register)) as { item_ids: string[] };
  return {
    stacked: tiles.tiles.map(({ place }) => place),
    merged: grid.cells.map(({ place }) => place),
    items: item_ids,
    findings: tiles.findings,
  };
}

const merged = (cell: string) =>
  `silver/fathom/global/merge/fluvial-defended-cm-2050-ssp2_4.5/${cell}.tif`;

/** GDAL's answer: the values of all bands at a place. */
async function valuesAt(file: string, lon: number, lat: number): Promise<number[]> {
  const local = await test.storage.localPath(file);
  const args = ["-valonly", "-wgs84", local ?? "", String(lon), String(lat)];
  const { stdout } = await promisify(execFile)("gdallocationinfo", args);
  return stdout.trim().split("\n").map(Number);
}

describe.skipIf(!hasGdal)("floods in two phases (needs GDAL)", () => {
  it("stack return periods and merge tiles, once, and anew only where a tile is new", async () => {
    await putTile(0, 5);
    await putTile(5, 5);
    await test.storage.put("bronze/fathom/readme.txt", new Uint8Array([1]));
    await test.storage.put(nameOf(7, 7, 5), await test.storage.get(nameOf(5, 5, 5)));
    const first = await runAll();
    const items = ["n00e005", "n05e005"].map(
      (cell) => `global-fluvial-defended-cm-2050-ssp2_4.5-${cell}`,
    );
    expect(first).toMatchObject({
      stacked: ["n00e005", "n05e005"],
      merged: ["n00e005", "n05e005"],
      items,
      findings: [{ code: "RETURN_PERIODS_MISSING" }, { code: "NAME_NOT_UNDERSTOOD" }],
    });
    const { rows } = await database.db.query<{ item: { properties: object; assets: object } }>(
      `SELECT item FROM dagapp.stac_items WHERE item_id = $1`,
      [items[0]],
    );
    expect(rows[0]!.item.properties).toMatchObject({
      "rmhdag:flood_type": "fluvial",
      "rmhdag:defence": "defended",
      "rmhdag:scenario": "ssp2_4.5",
      "rmhdag:return_periods": periods,
      start_datetime: "2050-01-01T00:00:00Z",
    });
    expect(JSON.stringify(rows[0]!.item.assets)).toContain("1in1000");
    const nothing = { stacked: [], merged: [], items: [] };
    expect(await runAll()).toMatchObject(nothing);

    const other = await test.storage.head(merged("n05e005"));
    await putTile(1, 6);
    // The same bytes again are stacked, and give the same stack: their grid cell is left as it is.
    await putTile(5, 5);
    expect(await runAll()).toMatchObject({
      stacked: ["n01e006", "n05e005"],
      merged: ["n00e005"],
      items: [items[0]],
    });
    expect(await test.storage.head(merged("n05e005"))).toEqual(other);
    const cell = merged("n00e005");
    const [column, row] = [13, 22];
    const at = (lat: number, lon: number): [number, number] => [
      lon + (column + 0.5) / side,
      lat + 1 - (row + 0.5) / side,
    ];
    const wanted = (lat: number, lon: number) =>
      periods.map((years) => Math.fround(depth(lat, lon, years, row * side + column)));
    expect(await valuesAt(cell, ...at(0, 5))).toEqual(wanted(0, 5));
    expect(await valuesAt(cell, ...at(1, 6))).toEqual(wanted(1, 6));
    // Between the tiles is nothing.
    expect(new Set(await valuesAt(cell, ...at(0, 6)))).toEqual(new Set([-9999]));
  }, 240_000);

  it("make a damaged file anew, and refuse a stack that is not the recorded one", async () => {
    const damage = async (file: string) => {
      const bytes = await test.storage.get(file);
      await test.storage.put(file, bytes.with(bytes.length - 1, bytes.at(-1)! ^ 1));
      return bytes;
    };
    const bytes = await damage(merged("n05e005"));
    expect(await runAll()).toMatchObject({ stacked: [], merged: ["n05e005"] });
    expect(await test.storage.get(merged("n05e005"))).toEqual(bytes);
    // Only copied: another ETag, and the same hash.
    await test.storage.put(merged("n05e005"), bytes);
    expect(await runAll()).toMatchObject({ stacked: [], merged: [], items: [] });

    await damage(merged("n05e005").replace("/merge/", "/stack/"));
    await test.storage.delete(merged("n05e005"));
    const key = { dataset: "global", product: "fluvial-defended-cm-2050-ssp2_4.5" };
    const again = test.run(spatialMerge, { ...key, place: "n05e005" });
    await expect(again).rejects.toMatchObject({ code: "SOURCE_CHANGED" });
  }, 240_000);

  it("refuse a configuration that cannot be", async () => {
    const inventory = (wanted: object, dataset = "other") =>
      test.run(tileInventory, { dataset, prefix: "bronze/fathom/", configuration: wanted });
    for (const wanted of [
      { pattern: "{tile}.tif" },
      { pattern: "{return_period}_{tile}_{colour}.tif" },
      { pattern: "[{return_period}_{tile}.tif" },
      { return_periods: [5, 5] },
    ]) {
      await expect(inventory(wanted)).rejects.toMatchObject({
        code: "CONFIGURATION_INVALID",
      });
    }
    await expect(inventory({ grid_degrees: 10 }, "global")).rejects.toMatchObject({
      code: "GRID_CHANGED",
    });
    expect(await inventory({ pattern: "no{return_period}_{tile}.tif" })).toMatchObject({
      tiles: [],
      findings: [{ code: "NAME_NOT_UNDERSTOOD" }, { code: "NO_TILES" }],
    });
  });
});
