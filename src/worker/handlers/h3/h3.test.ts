import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readTable } from "../../../adapters/parquet/read-table.ts";
import { findServedH3Run, listH3Sources } from "../../../adapters/postgres/queries/h3.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { writeTiff } from "../../../../test/support/tiff.ts";
import { discoverRaster } from "./discover-raster.ts";
import { exportDataset } from "./export-dataset.ts";
import { finalizeRuns } from "./finalize.ts";
import { registerDataset } from "./register-dataset.ts";
import { zonalStats } from "./zonal-stats.ts";

const file = new URL("../../../../test/fixtures/zonal/reference.json", import.meta.url);
const { chunk } = JSON.parse(readFileSync(file, "utf8")) as {
  chunk: {
    h3_l3: string;
    size: [number, number];
    cells: Record<string, Record<string, number>>;
  };
};
const statistics = ["count", "sum", "mean", "median", "stdev", "min", "max", "majority"];

let database: TestDatabase;
let test: TestContext;
beforeAll(async () => {
  database = await createTestDatabase();
  test = await createTestContext({ database: database.db });
  const [width, height] = chunk.size;
  const noise = (column: number, row: number) =>
    ((column * 7919 + row * 104_729 + column * row * 31) % 65_521) % 1000;
  const band = Float32Array.from({ length: width * height }, (_, index) => {
    const [column, row] = [index % width, Math.floor(index / width)];
    return noise(column + 3, row + 5) % 4 === 0 ? -9999 : noise(column, row);
  });
  const images = [{ width, height, block: 128, bands: [band], compression: "deflate" as const }];
  const place = { epsg: 4326, origin: [8, 49] as const, pixel: [0.0125, 0.0125] as const };
  await test.storage.put("silver/noise.tif", writeTiff({ images, ...place, nodata: "-9999" }));
});
afterAll(async () => {
  await test.dispose();
  await database.drop();
});

interface Discovered {
  readonly run_ids: string[];
  readonly chunks: { run_id: string; h3_l3: string; coarser: string[] }[];
  readonly findings: { code: string }[];
}

const discover = (params: object) =>
  test.run(discoverRaster, { raster: "noise", ...params }) as Promise<Discovered>;

async function rowsOf(path: string): Promise<Record<string, unknown>[]> {
  const head = await test.storage.head(path);
  return readTable(test.storage, path, head!.bytes);
}

describe("statistics of a raster by H3 cell", () => {
  it("equal those of exactextract, in sorted files at their paths, and are made once", async () => {
    const configuration = { min_resolution: 2, max_resolution: 5, statistics };
    const { chunks, run_ids } = await discover({ blob_path: "silver/noise.tif", configuration });
    // Every coarser cell is computed by one chunk; here that of the reference computes its own.
    const parents = chunks.flatMap(({ coarser }) => coarser);
    expect(new Set(parents).size).toBe(parents.length);
    const own = chunks.find(({ h3_l3 }) => h3_l3 === chunk.h3_l3)!;
    for (const each of chunks) await test.run(zonalStats, each);
    expect(await test.run(zonalStats, own)).toMatchObject({ reused: true });

    const folder = "silver/h3_stats/raster=noise/period=static";
    for (const resolution of [3, 4, 5]) {
      const path = `${folder}/resolution=${resolution}/h3_l3=${chunk.h3_l3}.parquet`;
      const rows = await rowsOf(path);
      const indexes = rows.map((row) => row["h3_index"]);
      expect(indexes).toEqual(indexes.toSorted());
      for (const row of rows) expectEqual(row);
      expect(Object.keys(rows[0]!)).toEqual(["h3_index", "resolution", ...statistics]);
    }
    const done = await test.run(finalizeRuns, { run_ids });
    expect(done).toMatchObject({ findings: [] });
    const coarse = await rowsOf(
      "silver/h3_compact/raster=noise/period=static/resolution=2.parquet",
    );
    const known = coarse.filter(({ h3_index }) => (h3_index as string) in chunk.cells);
    expect(known.length).toBe(1);
    for (const row of known) expectEqual(row);
    const fine = await rowsOf("silver/h3_compact/raster=noise/period=static/resolution=5.parquet");
    const indexes = fine.map((row) => row["h3_index"] as string);
    expect(indexes).toEqual([...new Set(indexes)].toSorted());
    expect(Object.keys(chunk.cells).filter((cell) => cell[1] === "5")).toEqual(
      indexes.filter((index) => index in chunk.cells),
    );

    const item = await test.run(registerDataset, { run_ids, collection_id: "h3" });
    expect(item).toMatchObject({ collection_id: "h3", item_id: "h3-noise-static" });
    // Its values are served while it is computed again.
    await discover({ blob_path: "silver/noise.tif", configuration });
    const served = await findServedH3Run(database.db, "noise", undefined);
    expect(served).toMatchObject({ run_id: run_ids[0], status: "running" });
    const [asked] = await listH3Sources(database.db, { limit: 1 });
    expect(asked).toMatchObject({ raster: "noise", run_id: run_ids[0] });
    const exported = (await test.run(exportDataset, { run_ids })) as { files: string[] };
    expect(exported.files).toContain("gold/h3/raster=noise/period=static/resolution=5.parquet");
  }, 240_000);

  it("warn of a level that is too fine, and end without rows where no land is", async () => {
    const fine = { blob_path: "silver/noise.tif", configuration: { max_resolution: 9 } };
    const { findings } = await discover({ ...fine, raster: "fine" });
    expect(findings).toMatchObject([{ code: "LEVEL_TOO_FINE" }]);
    const far = { bbox: [-40, 0, -39, 1] };
    const none = await discover({
      blob_path: "silver/noise.tif",
      configuration: far,
      raster: "none",
    });
    expect(none).toMatchObject({ chunks: [], findings: [{ code: "EMPTY_INTERSECTION" }] });
    expect(await test.run(finalizeRuns, { run_ids: none.run_ids })).toMatchObject({
      row_count: 0,
      findings: [{ code: "EMPTY_INTERSECTION" }],
    });
  });

  it("are refused for a raster without a coordinate reference system, and a bad configuration", async () => {
    await test.storage.putFile("bronze/none.tif", fixture("raster/rotated_no_crs.tif"));
    await expect(discover({ blob_path: "bronze/none.tif" })).rejects.toMatchObject({
      code: "CRS_MISSING",
    });
    await expect(discover({ raster: "unknown" })).rejects.toMatchObject({
      code: "SOURCE_NOT_FOUND",
    });
    const configuration = { min_resolution: 6, max_resolution: 4 };
    const bad = discover({ blob_path: "silver/noise.tif", configuration });
    await expect(bad).rejects.toMatchObject({ code: "CONFIGURATION_INVALID" });
  });
});

function expectEqual(row: Record<string, unknown>): void {
  const wanted = chunk.cells[row["h3_index"] as string];
  expect(wanted, `no reference for ${String(row["h3_index"])}`).toBeDefined();
  for (const [name, value] of Object.entries(wanted!)) {
    const off = Math.abs((row[name] as number) - value) / Math.max(1, Math.abs(value));
    expect(off, `${name} of ${String(row["h3_index"])}`).toBeLessThan(2e-6);
  }
}
