/** A raster to statistics by H3 cell with real programs, one of which is killed on the way. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import {
  areNeighborCells,
  cellToLatLng,
  cellToParent,
  cellsToDirectedEdge,
  edgeLength,
  greatCircleDistance,
} from "h3-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeGeoParquet } from "../../src/adapters/parquet/write-geoparquet.ts";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import type { Storage } from "../../src/adapters/storage/storage.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { Bounds } from "../../src/core/vector/parts.ts";
import { writeWkb } from "../../src/core/vector/write-wkb.ts";
import { fixture } from "../support/fixtures.ts";
import { hasGdal } from "../support/gdal.ts";
import { run } from "../support/processes.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import type { Orchestrator, Program } from "../support/programs.ts";
import { readTile } from "../support/read-tile.ts";
import { stacSchemas } from "../support/stac-schemas.ts";
import { writeTiff } from "../support/tiff.ts";
import { waitFor } from "../support/wait.ts";

const slow = 120_000;
let database: TestDatabase;
let fleet: Fleet;
let orchestrator: Orchestrator;
let worker: Program;
let storage: Storage;

beforeAll(async () => {
  database = await createTestDatabase();
  fleet = new Fleet(database.url);
  orchestrator = await fleet.orchestrator();
  worker = await fleet.worker({ WORKER_CONCURRENCY: "2" });
  storage = createLocalStorage(path.join(fleet.dataDirectory, "storage"));
  await putRaster(1);
}, slow);
afterAll(async () => {
  await fleet.stop();
  await database.drop();
});

/** Heights of the Alps, invented: 6° by 4°. */
async function putRaster(seed: number): Promise<void> {
  const [width, height] = [300, 200];
  const band = Float32Array.from(
    { length: width * height },
    (_, index) => seed + (((index % width) * 7919 + Math.floor(index / width) * 31) % 3000),
  );
  const images = [{ width, height, block: 128, bands: [band], compression: "deflate" as const }];
  const place = { epsg: 4326, origin: [8, 49] as const, pixel: [0.02, 0.02] as const };
  await storage.put("silver/alps.tif", writeTiff({ images, ...place }));
}

const compute = (raster: string) =>
  submit(orchestrator, "h3_raster_aggregation", {
    raster,
    blob_path: "silver/alps.tif",
    configuration: { max_resolution: 5 },
  });

async function filesOf(raster: string): Promise<Map<string, string>> {
  const { rows } = await database.db.query<{ path: string; sha256: string }>(
    `SELECT path, sha256 FROM dagapp.h3_output_manifest JOIN dagapp.h3_computation_runs
     USING (run_id) WHERE raster = $1 ORDER BY path`,
    [raster],
  );
  return new Map(rows.map(({ path: name, sha256 }) => [name.replace(raster, "…"), sha256]));
}

const get = (address: string) => fetch(`${orchestrator.url}${address}`);

describe.skipIf(!hasGdal)("fathom_flood (needs GDAL)", () => {
  it(
    "stacks eight return periods, and has nothing to do the second time",
    async () => {
      for (const years of [5, 10, 20, 50, 100, 200, 500, 1000]) {
        const images = [
          { width: 32, height: 32, block: 32, bands: [new Float32Array(1024).fill(years)] },
        ];
        const place = { epsg: 4326, origin: [8, 49] as const, pixel: [1 / 32, 1 / 32] as const };
        const name = `bronze/flood/1in${years}-COASTAL-UNDEFENDED-CM-2020_n48e008.tif`;
        await storage.put(name, writeTiff({ images, ...place, nodata: "-9999" }));
      }
      const inputs = { dataset: "fathom-test", prefix: "bronze/flood/" };
      const first = await finished(
        orchestrator,
        await submit(orchestrator, "fathom_flood", inputs),
        slow,
      );
      expect([first.status, first.error]).toEqual(["completed", null]);
      const item = "fathom-test-coastal-undefended-cm-2020-n45e005";
      const counts = { tile_count: 1, cell_count: 1, findings: [] };
      expect(first.result_data).toMatchObject({ ...counts, item_ids: [item] });
      const answer = await get(`/stac/collections/fathom/items/${item}`);
      expect(JSON.stringify(await answer.json())).toContain("1in1000");
      const again = await finished(
        orchestrator,
        await submit(orchestrator, "fathom_flood", inputs),
        slow,
      );
      expect(again.result_data).toMatchObject({ tile_count: 0, cell_count: 0, item_ids: [] });
    },
    slow,
  );
});

it(
  "h3_connectivity writes each pair of neighbours once, as DuckDB reads them",
  async () => {
    const inputs = { name: "alps", resolution: 4, bbox: [9, 46, 11, 47] };
    const id = await submit(orchestrator, "h3_connectivity", inputs);
    const job = await finished(orchestrator, id, slow);
    expect([job.status, job.error]).toEqual(["completed", null]);
    const root = path.join(fleet.dataDirectory, "storage");
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const reader = await connection.runAndReadAll(
      `SELECT h3_from, h3_to, ring, distance, border
       FROM read_parquet('${root}/silver/h3_edges/name=alps/k=1/resolution=4.parquet')`,
    );
    const edges = reader.getRowObjectsJson() as {
      h3_from: string;
      h3_to: string;
      distance: number;
      border: number;
    }[];
    connection.closeSync();
    const cells = job.result_data!["cell_count"] as number;
    // Six sides a cell, each shared by two, but for those at the outer border.
    expect(edges.length).toBeGreaterThan(3 * cells);
    expect(edges.length).toBeLessThan(6 * cells);
    expect(new Set(edges.map(({ h3_from, h3_to }) => `${h3_from} ${h3_to}`)).size).toBe(
      edges.length,
    );
    for (const { h3_from, h3_to, distance, border } of edges) {
      expect(h3_from < h3_to && areNeighborCells(h3_from, h3_to)).toBe(true);
      // H3 measures on a sphere, which differs from the ellipsoid by at most half a per cent.
      const sphere = greatCircleDistance(cellToLatLng(h3_from), cellToLatLng(h3_to), "m");
      expect(Math.abs(distance / sphere - 1)).toBeLessThan(0.006);
      const side = edgeLength(cellsToDirectedEdge(h3_from, h3_to), "m");
      expect(Math.abs(border / side - 1)).toBeLessThan(0.006);
    }
  },
  slow,
);

it(
  "h3_vector_aggregation counts the points of a GeoParquet file by category",
  async () => {
    const points = Array.from({ length: 40 }, (_, index) => [10 + index / 40, 46.5] as const);
    const rows = points.map(([x, y], index) => ({
      wkb: writeWkb("point", { points: Float64Array.of(x, y), lines: [], polygons: [] }),
      properties: { kind: index % 4 === 0 ? "a" : "b" },
      bounds: [x, y, x, y] as Bounds,
    }));
    const columns = [{ name: "kind", type: "text", source: "kind" }] as const;
    const layer = { columns, geometry_type: "MultiPoint", bounds: [10, 46, 11, 47] as Bounds };
    const file = path.join(fleet.dataDirectory, "points.parquet");
    await writeGeoParquet(
      file,
      layer,
      (async function* () {
        yield rows;
      })(),
    );
    await storage.putFile("silver/points.parquet", file);
    const id = await submit(orchestrator, "h3_vector_aggregation", {
      layer: "points",
      blob_path: "silver/points.parquet",
      configuration: { category: "kind", max_resolution: 4 },
    });
    const job = await finished(orchestrator, id, slow);
    expect([job.status, job.error]).toEqual(["completed", null]);
    const answer = await get("/h3/points?resolution=4");
    const { cells } = (await answer.json()) as {
      cells: { count: number; categories: { a?: number } }[];
    };
    expect(cells.reduce((sum, { count }) => sum + count, 0)).toBe(40);
    expect(cells.reduce((sum, { categories }) => sum + (categories.a ?? 0), 0)).toBe(10);
  },
  slow,
);

describe.skipIf(!hasGdal)("h3_raster_aggregation (needs GDAL)", () => {
  it(
    "makes the same bytes when a worker is killed in the middle, and no chunk twice",
    async () => {
      const calm = await finished(orchestrator, await compute("calm"), slow);
      expect([calm.status, calm.error]).toEqual(["completed", null]);
      const id = await compute("struck");
      await waitFor(async () => (await filesOf("struck")).size > 0, { what: "a first chunk" });
      worker.signal("SIGKILL");
      await worker.gone;
      worker = await fleet.worker();
      const struck = await finished(orchestrator, id, slow);
      expect([struck.status, struck.error]).toEqual(["completed", null]);
      const files = await filesOf("calm");
      expect(files.size).toBeGreaterThan(50);
      expect(await filesOf("struck")).toEqual(files);
      const again = await finished(orchestrator, await compute("struck"), slow);
      expect(again.result_data).toMatchObject({ row_count: calm.result_data!["row_count"] });
      const { rows } = await database.db.query<{ reused: boolean; count: number }>(
        `SELECT (output->>'reused')::boolean AS reused, count(*)::int AS count
         FROM dagapp.dag_node_states WHERE job_id = $1 AND node_id LIKE 'compute\\_\\_%' GROUP BY 1`,
        [again.job_id],
      );
      expect(rows).toEqual([{ reused: true, count: again.result_data!["chunk_count"] }]);
    },
    slow,
  );

  it("is read by DuckDB, which joins two data sets by their cells", async () => {
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const root = path.join(fleet.dataDirectory, "storage");
    const reader = await connection.runAndReadAll(
      `SELECT count(*)::INT AS cells, max(abs(a.mean - b.mean)) AS off, min(a.resolution)::INT AS res
       FROM read_parquet('${root}/silver/h3_stats/raster=calm/**/*.parquet') a
       JOIN read_parquet('${root}/silver/h3_compact/raster=struck/**/*.parquet') b USING (h3_index)`,
    );
    const [row] = reader.getRowObjectsJson();
    const { items } = await orchestrator.client.listH3Runs({ query: { raster: "calm" } });
    expect(row).toMatchObject({ cells: items[0]!.row_count, off: 0, res: 2 });
    connection.closeSync();
  });

  it(
    "h3_weighted_aggregation combines two data sets by a profile, to the values that DuckDB gets",
    async () => {
      const profile = path.join(fleet.dataDirectory, "profile.yaml");
      const url = ["--url", orchestrator.url];
      await writeFile(
        profile,
        `datasets: {height: calm, points: {dataset: points, period: static}}
columns:
  - {name: score, formula: "height.mean * 2 + (points.count > 1)"}
  - {name: mixed, weights: {height.max: 3, points.count: 1}}
  - {name: seen, mean_of: height.mean, weighted_by: [points.count, height.count]}
`,
      );
      expect(
        await run(["h3", "run", "both", "--profile", profile, "--wait", ...url]),
      ).toMatchObject({
        status: 0,
      });
      const root = path.join(fleet.dataDirectory, "storage/silver/h3_compact");
      const connection = await (await DuckDBInstance.create(":memory:")).connect();
      const reader = await connection.runAndReadAll(
        `SELECT h3_index, h.resolution::INT AS resolution, h.mean AS height,
           h.mean * 2 + (p.count > 1)::INT AS score, (3 * h.max + p.count) / 4 AS mixed,
           p.count * h.count AS weight, b.score AS our_score, b.mixed AS our_mixed, b.seen AS our_seen
         FROM read_parquet('${root}/raster=calm/**/*.parquet') h
         JOIN read_parquet('${root}/vector=points/**/*.parquet') p USING (h3_index)
         LEFT JOIN read_parquet('${root}/combined=both/**/*.parquet') b USING (h3_index)`,
      );
      const rows = reader.getRowObjectsJson() as ({ h3_index: string } & Record<string, number>)[];
      connection.closeSync();
      expect(new Set(rows.map(({ resolution }) => resolution))).toEqual(new Set([2, 3, 4]));
      const finest = rows.filter(({ resolution }) => resolution === 4);
      for (const row of rows) {
        expect(row["our_score"]).toBeCloseTo(row["score"]!, 8);
        expect(row["our_mixed"]).toBeCloseTo(row["mixed"]!, 8);
        const below = finest.filter(
          ({ h3_index }) => cellToParent(h3_index, row["resolution"]!) === row.h3_index,
        );
        const sum = (of: (each: (typeof rows)[number]) => number) =>
          below.reduce((total, each) => total + of(each), 0);
        const seen =
          sum((each) => each["weight"]! * each["height"]!) / sum((each) => each["weight"]!);
        // Their children may all lie outside the cells that both data sets have.
        if (below.length > 0) expect(row["our_seen"]).toBeCloseTo(seen, 6);
      }
      const { items } = await orchestrator.client.listH3Runs({ query: { raster: "both" } });
      expect(items).toMatchObject([{ kind: "combined", row_count: rows.length }]);
      const wrong = await submit(orchestrator, "h3_weighted_aggregation", {
        combination: "wrong",
        datasets: { height: "calm" },
        configuration: { columns: [{ name: "a", formula: "height.colour" }] },
      });
      const failed = await finished(orchestrator, wrong, slow);
      expect(failed.error).toMatchObject({ code: "COLUMN_NOT_FOUND" });
    },
    slow,
  );

  it("has items with the columns and rows that DuckDB finds in their files", async () => {
    const problemsOf = stacSchemas(fixture("stac-schemas"));
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const read = async (query: string) =>
      (await connection.runAndReadAll(query)).getRowObjectsJson() as Record<string, never>[];
    for (const [name, resolutions] of [
      ["calm", 4],
      ["points", 3],
      ["both", 3],
    ] as const) {
      const answer = await get(`/stac/collections/h3/items/h3-${name}-static`);
      const item = (await answer.json()) as {
        stac_extensions: string[];
        properties: Record<string, unknown>;
        assets: Record<string, { href: string; "table:row_count": number }>;
      };
      expect(problemsOf(item)).toEqual([]);
      expect(item.stac_extensions).toContain(
        "https://stac-extensions.github.io/table/v1.2.0/schema.json",
      );
      // Cells are named by their index: no column of the files is a geometry.
      expect(item.properties).not.toHaveProperty("table:primary_geometry");
      const assets = Object.values(item.assets);
      expect(assets.length).toBe(resolutions);
      let rows = 0;
      for (const asset of assets) {
        const file = path.join(fleet.dataDirectory, "asset.parquet");
        await writeFile(file, new Uint8Array(await (await fetch(asset.href)).arrayBuffer()));
        const columns = await read(
          `SELECT name, lower(type) AS type FROM parquet_schema('${file}') WHERE type IS NOT NULL`,
        );
        expect(item.properties["table:columns"]).toEqual(columns);
        expect(await read(`SELECT key FROM parquet_kv_metadata('${file}')`)).toEqual([]);
        const [counted] = await read(`SELECT count(*)::INT AS rows FROM '${file}'`);
        expect(asset["table:row_count"]).toBe(counted!["rows"]);
        rows += asset["table:row_count"];
      }
      expect(item.properties["table:row_count"]).toBe(rows);
    }
    connection.closeSync();
  });

  it(
    "answers cells of a box as JSON, CSV and Parquet, and on the command line",
    async () => {
      const query = "/h3/calm?bbox=10,46,11,47&resolution=5&stat=mean";
      const json = (await (await get(query)).json()) as { count: number; cells: object[] };
      expect(json.cells[0]).toEqual({
        h3_index: expect.stringMatching(/^85[0-9a-f]{13}$/) as string,
        resolution: 5,
        mean: expect.any(Number) as number,
      });
      const csv = await get(`${query}&f=csv`);
      expect(csv.headers.get("content-type")).toContain("text/csv");
      const lines = (await csv.text()).trim().split("\n");
      expect([lines[0], lines.length]).toEqual(["h3_index,resolution,mean", json.count + 1]);
      const parquet = new Uint8Array(await (await get(`${query}&f=parquet`)).arrayBuffer());
      expect(new TextDecoder().decode(parquet.subarray(0, 4))).toBe("PAR1");
      const whole = (await (await get("/h3/calm?resolution=5&stat=mean")).json()) as typeof json;
      expect(whole.count).toBeGreaterThan(json.count);
      expect((await get("/h3/calm?resolution=9")).status).toBe(400);
      expect((await get("/h3/calm?stat=majority")).status).toBe(400);
      expect((await get("/h3/nothing")).status).toBe(404);
      const item = (await (await get("/stac/collections/h3/items/h3-calm-static")).json()) as {
        assets: Record<string, { href: string }>;
      };
      expect(Object.keys(item.assets)).toContain("resolution_5");

      const tilejson = "/stac/collections/h3/items/h3-calm-static/WebMercatorQuad/tilejson.json";
      const described = (await (await get(`${tilejson}?stat=max`)).json()) as {
        tiles: [string];
        "rmhdag:hexagons": { stat: string; range: [number, number] };
      };
      expect(described["rmhdag:hexagons"].stat).toBe("max");
      expect(described["rmhdag:hexagons"].range[0]).toBeLessThan(
        described["rmhdag:hexagons"].range[1],
      );
      const address = described.tiles[0].replace("{z}/{x}/{y}", "8/135/90");
      const tile = readTile(new Uint8Array(await (await fetch(address)).arrayBuffer()));
      const cells = tile["default"]!.features;
      const values = (await (await get("/h3/calm?resolution=5")).json()) as {
        cells: { h3_index: string; mean: number }[];
      };
      const known = new Map(values.cells.map((cell) => [cell.h3_index, cell.mean]));
      expect(cells.length).toBeGreaterThan(20);
      for (const { properties } of cells) {
        expect(properties["mean"]).toBe(known.get(properties["h3_index"] as string));
      }
      expect((await get(`${tilejson}?stat=nothing`)).status).toBe(400);

      const combined = await submit(orchestrator, "h3_weighted_aggregation", {
        combination: "twice",
        datasets: { both: "both" },
        configuration: {
          columns: [{ name: "score", formula: "both.score * 2" }],
          max_resolution: 3,
        },
      });
      expect(await finished(orchestrator, combined, slow)).toMatchObject({ status: "completed" });
      const url = ["--url", orchestrator.url];
      const add = ["h3", "sources", "add", "later", "--path", "silver/alps.tif", ...url];
      expect(await run(add)).toMatchObject({ status: 0 });
      const states = async () => {
        const { items } = await orchestrator.client.listH3Sources({ query: {} });
        return Object.fromEntries(items.map(({ raster, state }) => [raster, state]));
      };
      const before = {
        later: "never",
        calm: "current",
        struck: "current",
        points: "current",
        both: "current",
        twice: "current",
        wrong: "never",
      };
      expect(await states()).toEqual(before);
      const names: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null;) {
        const query = { state: "current" as const, limit: 2, cursor };
        const page = await orchestrator.client.listH3Sources({ query });
        // The two that were never computed come first, and take no place on a page of others.
        expect(page.items.length).toBe(names.length < 4 ? 2 : 1);
        names.push(...page.items.map(({ raster }) => raster));
        cursor = page.next_cursor;
      }
      expect(names).toEqual(["both", "calm", "points", "struck", "twice"]);
      const define = (raster: string, max_resolution: number) =>
        orchestrator.client.putH3Source({
          params: { raster },
          body: {
            kind: "raster",
            source: { blob_path: "silver/alps.tif", item_id: null },
            configuration: { max_resolution, nodata: null },
          },
        });
      await define("calm", 5);
      expect(await states()).toEqual(before);
      await define("struck", 4);
      expect(await states()).toEqual({ ...before, struck: "stale" });
      await putRaster(2);
      // Of the points alone nothing follows.
      const after = { ...before, calm: "stale", struck: "stale", both: "stale", twice: "stale" };
      expect(await states()).toEqual(after);
      const anew = await finished(orchestrator, await compute("calm"), slow);
      expect(anew.status).toBe("completed");
      // What was made of the earlier values is stale until it is computed of the new ones.
      expect(await states()).toEqual({ ...after, calm: "current" });
      expect(await run(["h3", "run", "both", "--wait", ...url])).toMatchObject({ status: 0 });
      expect(await states()).toEqual({ ...after, calm: "current", both: "current" });
      await define("calm", 4);
      expect(await states()).toEqual(after);
      const shown = await run([
        "h3",
        "query",
        "calm",
        "--resolution",
        "2",
        "--stat",
        "mean",
        ...url,
      ]);
      expect(shown.stdout).toMatch(/^h3_index\tresolution\tmean\n82/);
      const runs = await run(["h3", "runs", "--json", ...url]);
      expect(JSON.parse(runs.stdout)).toMatchObject([
        { raster: "both" },
        { raster: "calm" },
        { raster: "twice" },
        { raster: "both" },
        { raster: "struck" },
        { raster: "calm" },
        { raster: "points" },
      ]);
    },
    slow,
  );
});
