import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFeatures } from "../../../adapters/parquet/confined-features.ts";
import { readTable } from "../../../adapters/parquet/read-table.ts";
import { writeGeoParquet } from "../../../adapters/parquet/write-geoparquet.ts";
import { geodesicLength } from "../../../adapters/h3/geodesic.ts";
import { multiType } from "../../../core/vector/parts.ts";
import type { Bounds, Parts } from "../../../core/vector/parts.ts";
import { writeWkb } from "../../../core/vector/write-wkb.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestContext, noGdal } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { loadSquares } from "../../../../test/support/squares-table.ts";
import { discoverVector } from "./discover-vector.ts";
import { finalizeRuns } from "./finalize.ts";
import { registerDataset } from "./register-dataset.ts";
import { vectorStats } from "./vector-stats.ts";

let database: TestDatabase;
let test: TestContext;
beforeAll(async () => {
  database = await createTestDatabase();
  test = await createTestContext({ database: database.db, gdal: noGdal });
});
afterAll(async () => {
  await test.dispose();
  await database.drop();
});

const line = (...positions: [number, number][]): Parts => ({
  points: new Float64Array(0),
  lines: [Float64Array.from(positions.flat())],
  polygons: [],
});

/** Two roads in the Alps, and one to the east of them in a row group of its own. */
const roads = [
  { parts: line([10, 46], [10.4, 46.3], [10.9, 46.2]), kind: "main", cost: 8 },
  { parts: line([10.1, 46.5], [10.7, 46.1]), kind: "side", cost: 2 },
  { parts: line([13.5, 46.1], [13.9, 46.5]), kind: "main", cost: 1 },
];

async function putRoads(): Promise<void> {
  const file = path.join(test.folder, "roads.parquet");
  const columns = [
    { name: "kind", type: "text", source: "kind" },
    { name: "cost", type: "double precision", source: "cost" },
  ] as const;
  const pages = (async function* () {
    for (const group of [roads.slice(0, 2), roads.slice(2)]) {
      yield group.map(({ parts, kind, cost }) => {
        const [positions = new Float64Array(0)] = parts.lines;
        const xs = positions.filter((_, index) => index % 2 === 0);
        const ys = positions.filter((_, index) => index % 2 === 1);
        return {
          wkb: writeWkb("line", parts),
          properties: { kind, cost },
          bounds: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as Bounds,
        };
      });
    }
  })();
  const layer = { columns, geometry_type: multiType.line, bounds: [10, 46, 13.9, 46.5] as Bounds };
  await writeGeoParquet(file, layer, pages);
  await test.storage.putFile("silver/roads.parquet", file);
}

interface Discovered {
  readonly run_ids: string[];
  readonly chunks: object[];
  readonly findings: { code: string }[];
}

async function compute(params: object) {
  const found = (await test.run(discoverVector, params)) as Discovered;
  for (const chunk of found.chunks) await test.run(vectorStats, chunk);
  const done = (await test.run(finalizeRuns, { run_ids: found.run_ids })) as {
    row_count: number;
    files: { path: string }[];
  };
  return { ...found, ...done };
}

async function rowsOf(file: string): Promise<Record<string, unknown>[]> {
  const head = await test.storage.head(file);
  return readTable(test.storage, file, head!.bytes);
}

const sum = (rows: readonly Record<string, unknown>[], name: string) =>
  rows.reduce((total, row) => total + (row[name] as number), 0);

describe("features by H3 cell", () => {
  it("are measured from GeoParquet, by category and weight, and made once", async () => {
    await putRoads();
    const configuration = { category: "kind", weight: "cost", max_resolution: 5 };
    const request = { layer: "roads", blob_path: "silver/roads.parquet", configuration };
    const done = await compute(request);
    expect(done.findings).toEqual([]);
    const [first] = done.chunks;
    expect(await test.run(vectorStats, first)).toMatchObject({ reused: true });
    const whole = roads.map(({ parts }) => {
      const [flat = new Float64Array(0)] = parts.lines;
      let length = 0;
      for (let at = 0; at + 3 < flat.length; at += 2) {
        length += geodesicLength(flat[at]!, flat[at + 1]!, flat[at + 2]!, flat[at + 3]!);
      }
      return length;
    });
    const total = whole.reduce((all, each) => all + each, 0);
    for (const resolution of [2, 3, 5]) {
      const compact = `silver/h3_compact/vector=roads/period=static/resolution=${resolution}.parquet`;
      const rows = await rowsOf(compact);
      // Pieces of a straight line in degrees are a little longer than the geodesic.
      expect(sum(rows, "length") / total).toBeCloseTo(1, 4);
      expect(sum(rows, "sum")).toBeCloseTo(11, 2);
      const side = rows.reduce(
        (all, { categories }) => all + ((categories as Record<string, number>)["side"] ?? 0),
        0,
      );
      expect(side / whole[1]!).toBeCloseTo(1, 4);
      const indexes = rows.map((row) => row["h3_index"]);
      expect(indexes).toEqual([...new Set(indexes)].toSorted());
    }
    const item = await test.run(registerDataset, { run_ids: done.run_ids, collection_id: "h3" });
    expect(item).toMatchObject({ item_id: "h3-roads-static" });
  }, 240_000);

  it("reads only the row groups that meet the box", async () => {
    const { bytes } = (await test.storage.head("silver/roads.parquet"))!;
    const file = { storage: test.storage, path: "silver/roads.parquet", bytes };
    const boxes: Bounds[] = [[9, 45, 12, 48]];
    const wanted = { boxes, columns: ["kind"] };
    const { signal } = new AbortController();
    const found = [];
    for await (const each of readFeatures(file, wanted, { workDir: test.folder, signal })) {
      found.push(each);
    }
    expect(found.map(({ properties }) => properties["kind"])).toEqual(["main", "side"]);
  });

  it("are measured from a layer, whose squares have the area that GeographicLib says", async () => {
    await loadSquares(database.db, {
      table_name: "squares",
      form: "wkb",
      load_id: "load-1",
      columns: [{ name: "kind", type: "text", source: "kind" }],
      rows: [
        { west: 10, attributes: "a" },
        { west: 20, attributes: "b" },
      ],
    });
    const configuration = { min_resolution: 3, max_resolution: 4, bbox: [9.8, -0.2, 21.2, 1.2] };
    const done = await compute({ layer: "squares", table_name: "squares", configuration });
    for (const { path: file } of done.files) {
      const rows = await rowsOf(file);
      // GeodSolve's Planimeter gives 12308778361.469 m² for a square of one degree at the equator.
      expect(sum(rows, "area") / (2 * 12_308_778_361.469)).toBeCloseTo(1, 4);
      expect(Object.keys(rows[0]!)).toEqual(["h3_index", "resolution", "count", "area"]);
    }
  }, 240_000);

  it("are refused with a column that is not there, and under a raster's name", async () => {
    const request = { layer: "squares", table_name: "squares" };
    const wrong = test.run(discoverVector, { ...request, configuration: { weight: "colour" } });
    await expect(wrong).rejects.toMatchObject({ code: "COLUMN_NOT_FOUND" });
    await database.db.query(
      `INSERT INTO dagapp.h3_raster_sources (raster, source, configuration) VALUES ('dem', '{}', '{}')`,
    );
    const taken = test.run(discoverVector, { ...request, layer: "dem" });
    await expect(taken).rejects.toMatchObject({ code: "NAME_TAKEN" });
    const far = await compute({
      layer: "far",
      blob_path: "silver/roads.parquet",
      configuration: { bbox: [100, 50, 101, 51] },
    });
    expect(far).toMatchObject({ row_count: 0, findings: [{ code: "EMPTY_INTERSECTION" }] });
  });
});
