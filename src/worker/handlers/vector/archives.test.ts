/** Archives of several files: every one is a layer of the same job, as ogrinfo sees it. */
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { z } from "zod";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import { packZip } from "../../../../test/support/zip.ts";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import type { Gdal } from "../../../adapters/gdal/gdal.ts";
import type { vectorContracts } from "../../../core/handlers/vector.ts";
import { readOgrinfo } from "../../../core/vector/read-ogrinfo.ts";
import { prepareVector } from "./prepare.ts";
import { simplifyVector } from "./simplify-dissolve.ts";
import { publishVector, uploadChunk } from "./upload-publish.ts";

type Prepared = z.output<
  Extract<(typeof vectorContracts)[number], { name: "vector_prepare" }>["result"]
>;
type Entry = Parameters<typeof packZip>[0];
const engines = hasGdal ? (["native", "wasm"] as const) : (["wasm"] as const);

const collection = (name: string, ...coordinates: readonly (readonly [number, number])[]) =>
  JSON.stringify({
    type: "FeatureCollection",
    features: coordinates.map((each) => ({
      type: "Feature",
      properties: { name },
      geometry: { type: "Point", coordinates: each },
    })),
  });

describe.each(engines)("an archive of several files, on the engine %s", (engine) => {
  let database: TestDatabase;
  let gdal: Gdal;
  let test: TestContext;

  beforeAll(async () => {
    [database, gdal] = await Promise.all([createTestDatabase(), createGdal({ prefer: engine })]);
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    test = await createTestContext({ database: database.db, gdal });
    onTestFinished(() => test.dispose());
  });

  async function place(name: string, ...entries: readonly Entry[]): Promise<string> {
    const folder = path.join(test.folder, "storage/bronze");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, name), packZip(...entries));
    return `bronze/${name}`;
  }

  const prepare = async (blob_path: string, params: object = {}) =>
    (await test.run(prepareVector, { blob_path, ...params })) as Prepared;
  const entry = (name: string, content: string | Uint8Array): Entry => ({
    name,
    content: Buffer.from(content),
  });

  /** The files of a shapefile that GDAL makes, and its extent in WGS 84 by ogrinfo. */
  async function makeShapefile(name: string, points: string, ...args: readonly string[]) {
    const folder = path.join(test.folder, `made-${name}`);
    await mkdir(folder);
    const source = path.join(folder, "source.geojson");
    await writeFile(source, points);
    const target = path.join(folder, `${name}.shp`);
    const options = { workDir: test.folder };
    await gdal.run("ogr2ogr", [target, source, ...args], options);
    const degrees = path.join(folder, "degrees.gpkg");
    await gdal.run("ogr2ogr", ["-t_srs", "EPSG:4326", degrees, target], options);
    const { stdout } = await gdal.run("ogrinfo", ["-ro", "-so", "-al", degrees], options);
    const files = (await readdir(folder)).filter((file) => file.startsWith(`${name}.`));
    const entries = files.map(async (file) => entry(file, await readFile(path.join(folder, file))));
    return { entries: await Promise.all(entries), facts: readOgrinfo(stdout)[0]! };
  }

  it("loads every shapefile with its own encoding and system", async () => {
    const latin = await makeShapefile(
      "roads",
      collection("Straße", [15, 50], [15.5, 50.25]),
      ...["-t_srs", "EPSG:32633", "-lco", "ENCODING=ISO-8859-1"],
    );
    const unicode = await makeShapefile(
      "parks",
      collection("Wiesengrün", [3, 47]),
      ...["-t_srs", "EPSG:2154", "-lco", "ENCODING=UTF-8"],
    );
    const list = entry("columns.csv", "column,meaning\nname,a name\n");
    const archive = await place("city.zip", ...latin.entries, ...unicode.entries, list);
    const prepared = await prepare(archive);
    expect(prepared.tables.map(({ table_name }) => table_name).toSorted()).toEqual([
      "city_parks",
      "city_roads",
    ]);
    for (const [name, { facts }] of Object.entries({ roads: latin, parks: unicode })) {
      const table = prepared.tables.find(({ table_name }) => table_name === `city_${name}`)!;
      expect(table.feature_count).toBe(facts.featureCount);
      for (const [index, value] of (facts.extent ?? []).entries()) {
        expect(table.bounds?.[index]).toBeCloseTo(value, 6);
      }
      expect(facts.extent).toHaveLength(4);
    }
    const codes = prepared.findings.map(({ code }) => code);
    expect(codes).toContain("FILES_UNREAD");
    expect(codes).not.toContain("ENCODING_GUESSED");
    for (const chunk of prepared.chunks) await test.run(uploadChunk, { chunk });
    await test.run(publishVector, { load_id: prepared.load_id });
    const { rows } = await database.db.query(
      "SELECT DISTINCT name FROM geo.city_roads UNION SELECT name FROM geo.city_parks ORDER BY 1",
    );
    expect(rows).toEqual([{ name: "Straße" }, { name: "Wiesengrün" }]);
  });

  it("loads the file that layer names, and says which there are", async () => {
    const archive = await place(
      "days.zip",
      entry("north/visits.geojson", collection("a", [1, 1])),
      entry("south/visits.geojson", collection("b", [2, 2], [3, 3])),
      entry("more.geojsonl", `${collection("c", [4, 4])}\n`),
      entry("about.json", "{}"),
    );
    const all = await prepare(archive);
    expect(all.tables).toMatchObject([
      { table_name: "days_north_visits", feature_count: 1, bounds: [1, 1, 1, 1] },
      { table_name: "days_south_visits", feature_count: 2, bounds: [2, 2, 3, 3] },
      { table_name: "days_more", feature_count: 1, bounds: [4, 4, 4, 4] },
    ]);
    const one = await prepare(archive, { layer: "south/visits" });
    expect(one.tables).toMatchObject([{ table_name: "visits", feature_count: 2 }]);
    await expect(prepare(archive, { layer: "visits" })).rejects.toMatchObject({
      code: "LAYER_NOT_FOUND",
      message: expect.stringContaining("north/visits, south/visits, more") as string,
    });
    const simple = { blob_path: archive, tolerance: 0.001 };
    await expect(test.run(simplifyVector, simple)).rejects.toMatchObject({
      code: "ARCHIVE_AMBIGUOUS",
    });
    const simplified = await test.run(simplifyVector, { ...simple, layer: "more" });
    expect(simplified).toMatchObject({ feature_count: 1 });
  });

  it("names the file that is refused", async () => {
    const good = entry("good.geojson", collection("a", [1, 1]));
    const projected = await makeShapefile(
      "metres",
      collection("a", [15, 50]),
      "-t_srs",
      "EPSG:32633",
    );
    const without = projected.entries.filter(({ name }) => !name.endsWith(".prj"));
    const other = await makeShapefile("degrees", collection("a", [15, 50]));
    await expect(
      prepare(await place("mixed.zip", ...without, ...other.entries)),
    ).rejects.toMatchObject({
      code: "CRS_MISSING",
      message: expect.stringMatching(/^metres: /) as string,
    });
    const virtual = entry("trick.geojson", "<OGRVRTDataSource></OGRVRTDataSource>");
    await expect(prepare(await place("trick.zip", good, virtual))).rejects.toMatchObject({
      code: "INVALID_FORMAT",
      message: expect.stringMatching(/^trick: /) as string,
    });
  });
});
