import { EventEmitter, once } from "node:events";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import { describeForms } from "../../../../test/support/postgis.ts";
import { waitFor } from "../../../../test/support/wait.ts";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import type { Gdal } from "../../../adapters/gdal/gdal.ts";
import { loadChunk } from "../../../adapters/postgres/repositories/geo-loads.ts";
import type { vectorContracts } from "../../../core/handlers/vector.ts";
import type { z } from "zod";
import { prepareVector } from "./prepare.ts";
import { publishVector, uploadChunk } from "./upload-publish.ts";

type Prepared = z.output<
  Extract<(typeof vectorContracts)[number], { name: "vector_prepare" }>["result"]
>;

describeForms("a layer", ({ form, create }) => {
  let database: TestDatabase;
  let gdal: Gdal;
  let test: TestContext;

  beforeAll(async () => {
    [database, gdal] = await Promise.all([create(), createGdal()]);
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    test = await createTestContext({ database: database.db, gdal });
    onTestFinished(() => test.dispose());
  });

  /** All files of that name: a shapefile is several. */
  async function place(name: string): Promise<string> {
    const folder = fixture(`vector/${path.dirname(name)}`);
    const base = path.basename(name).replace(/\.[^.]*$/, "");
    await mkdir(path.join(test.folder, "storage/bronze"), { recursive: true });
    for (const file of await readdir(folder)) {
      if (file.startsWith(`${base}.`)) {
        await copyFile(path.join(folder, file), path.join(test.folder, "storage/bronze", file));
      }
    }
    return `bronze/${path.basename(name)}`;
  }

  async function prepare(name: string, params: object = {}): Promise<Prepared> {
    const blob_path = await place(name);
    return (await test.run(prepareVector, { blob_path, ...params })) as Prepared;
  }

  async function load(prepared: Prepared): Promise<void> {
    for (const chunk of prepared.chunks) await test.run(uploadChunk, { chunk });
    await test.run(publishVector, { load_id: prepared.load_id });
  }

  async function rows(text: string): Promise<Record<string, unknown>[]> {
    return (await database.db.query<Record<string, unknown>>(text)).rows;
  }

  const counted = ({ findings }: Prepared) =>
    Object.fromEntries(findings.map(({ code, count }) => [code, count]));

  describe("from a file", () => {
    it("countries: every feature becomes a row, with its attributes", async () => {
      const prepared = await prepare("countries_110m.shp", { chunk_size: 50 });
      expect(prepared).toMatchObject({
        table_name: "countries_110m",
        geometry_type: "MultiPolygon",
        feature_count: 177,
        chunk_count: 4,
        crs: "EPSG:4326",
      });
      await load(prepared);
      const [row] = await rows(`SELECT count(*), min(name) AS first FROM geo.countries_110m`);
      expect(row).toEqual({ count: 177, first: "Afghanistan" });
    });

    it("a chunk that comes again changes nothing", async () => {
      const prepared = await prepare("countries_110m.shp", { chunk_size: 100 });
      const [chunk] = prepared.chunks;
      for (let time = 0; time < 3; time++) await test.run(uploadChunk, { chunk });
      await load(prepared);
      const [row] = await rows(
        `SELECT count(*), count(DISTINCT fid) AS ids FROM geo.countries_110m`,
      );
      expect(row).toEqual({ count: 177, ids: 177 });
      await expect(test.run(uploadChunk, { chunk })).rejects.toMatchObject({
        code: "NOT_IN_STORAGE",
      });
    });

    it("a chunk that two workers load at once is loaded once", async () => {
      const { chunks, load_id } = await prepare("countries_110m.shp", { table_name: "at_once" });
      const [chunk = { blob_path: "", index: -1 }] = chunks;
      const bytes = await test.storage.get(chunk.blob_path);
      const place = { load_id, table_name: "at_once", chunk_index: chunk.index };
      const steps = new EventEmitter();
      const [begun, released] = [once(steps, "begun"), once(steps, "released")];
      const slow = loadChunk(database.db, place, async function* () {
        steps.emit("begun");
        yield bytes;
        await released;
      });
      await begun;
      let isLoaded = false;
      const quick = loadChunk(database.db, place, async function* () {
        yield bytes;
      }).finally(() => {
        isLoaded = true;
      });
      const waiting = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await waitFor(async () => isLoaded || (await rows(waiting)).length > 0, {
        what: "the second worker to wait for the first",
      });
      steps.emit("released");
      expect(await Promise.all([slow, quick])).toEqual([177, 177]);
      await test.run(publishVector, { load_id });
      expect(await rows("SELECT count(*) FROM geo.at_once")).toEqual([{ count: 177 }]);
    });

    it("is not published while a chunk is missing", async () => {
      const prepared = await prepare("countries_110m.shp", { chunk_size: 100, table_name: "part" });
      await test.run(uploadChunk, { chunk: prepared.chunks[0] });
      await expect(test.run(publishVector, { load_id: prepared.load_id })).rejects.toMatchObject({
        code: "LOAD_INCOMPLETE",
      });
      expect(await rows(`SELECT FROM dagapp.geo_tables WHERE table_name = 'part'`)).toEqual([]);
    });

    it("of two jobs that load the same layer, the later one wins whole", async () => {
      const first = await prepare("countries_110m.shp", { table_name: "shared" });
      const later = { ...test.context, job_id: "job-2" };
      const { params } = prepareVector.contract;
      await prepareVector.run(
        params.parse({ blob_path: "bronze/countries_110m.shp", table_name: "shared" }),
        later,
      );
      const chunk = first.chunks[0];
      const late = { code: "LOAD_REPLACED" };
      await expect(test.run(uploadChunk, { chunk })).rejects.toMatchObject(late);
      const published = test.run(publishVector, { load_id: first.load_id });
      await expect(published).rejects.toMatchObject(late);
    });

    it("is published once, however often that is asked for, and leaves no chunk behind", async () => {
      const prepared = await prepare("land_110m.geojson");
      expect(prepared.feature_count).toBe(127);
      await load(prepared);
      const again = await test.run(publishVector, { load_id: prepared.load_id });
      expect(again).toMatchObject({ table_names: ["land_110m"], tables: [{ form }] });
      expect((await test.storage.list("silver/")).items).toEqual([]);
    });

    it("splits a file of several geometry types into tables", async () => {
      const prepared = await prepare("mixed_types.geojson");
      expect(
        prepared.tables.map(({ table_name, feature_count }) => [table_name, feature_count]),
      ).toEqual([
        ["mixed_types_points", 1],
        ["mixed_types_lines", 1],
        ["mixed_types_polygons", 1],
      ]);
      expect(counted(prepared)).toMatchObject({ GEOMETRY_TYPES_SPLIT: 3 });
      await load(prepared);
      const [row] = await rows(`SELECT name FROM geo.mixed_types_points`);
      expect(row).toEqual({ name: "Le château d'eau" });
    });

    it("repairs what is not valid, and says so", async () => {
      const prepared = await prepare("one_invalid_polygon.shp", { source_crs: "EPSG:32632" });
      expect(prepared).toMatchObject({ feature_count: 14, source_feature_count: 14 });
      expect(counted(prepared)).toMatchObject({ GEOMETRY_REPAIRED: 1, CRS_ASSIGNED: 1 });
      await load(prepared);
      if (form === "postgis") {
        const bad = await rows(`SELECT FROM geo.one_invalid_polygon WHERE NOT ST_IsValid(geom)`);
        expect(bad).toEqual([]);
      }
    });
  });

  // What happens before the table is written does not depend on the form.
  if (form === "postgis") return;

  describe("whatever its form", () => {
    it("refuses a file without a reference system, unless one is given", async () => {
      await expect(prepare("no_prj.shp")).rejects.toMatchObject({ code: "CRS_MISSING" });
      const prepared = await prepare("no_prj.shp", { source_crs: "EPSG:32631" });
      expect(prepared.bounds?.every((value) => Math.abs(value) < 90)).toBe(true);
      expect(counted(prepared)).toMatchObject({ CRS_ASSIGNED: 1 });
    });

    it("reduces to two dimensions, and says so", async () => {
      const prepared = await prepare("points_zm.shp", { source_crs: "EPSG:4326" });
      expect(counted(prepared)).toMatchObject({ DIMENSIONS_REDUCED: 1 });
      expect(prepared.bounds).toEqual([1, 2, 1, 2]);
    });

    it.each([
      ["null_geometry.geojson", {}, 1, { GEOMETRY_NULL: 1 }],
      ["first_geometry_null.gpkg", { source_crs: "EPSG:4326" }, 1, { GEOMETRY_NULL: 1 }],
    ])("leaves out and counts what %s lacks", async (name, params, kept, findings) => {
      const prepared = await prepare(name, params);
      expect(prepared.feature_count).toBe(kept);
      expect(counted(prepared)).toMatchObject(findings);
    });

    it("accounts for every feature of a file of null, empty and invalid geometries", async () => {
      const prepared = await prepare("null_empty_invalid.geojson");
      const found = counted(prepared);
      const dropped = [
        "GEOMETRY_NULL",
        "GEOMETRY_EMPTY",
        "GEOMETRY_COLLAPSED",
        "FEATURES_UNREADABLE",
      ];
      const left = dropped.reduce((sum, code) => sum + (found[code] ?? 0), 0);
      expect(prepared.source_feature_count).toBe(27);
      expect(left + prepared.feature_count - (found["COLLECTION_SPLIT"] ?? 0)).toBe(27);
    });
  });
});
