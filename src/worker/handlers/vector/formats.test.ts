import { mkdir, readdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { z } from "zod";
import { hasGdal } from "../../../../test/support/gdal.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import type { Gdal } from "../../../adapters/gdal/gdal.ts";
import { findItem } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import type { vectorContracts } from "../../../core/handlers/vector.ts";
import { createVectorStac } from "./create-stac.ts";
import { dissolveVector, simplifyVector } from "./simplify-dissolve.ts";
import { prepareVector } from "./prepare.ts";
import { publishVector, uploadChunk } from "./upload-publish.ts";

type Prepared = z.output<
  Extract<(typeof vectorContracts)[number], { name: "vector_prepare" }>["result"]
>;

const square = (west: number, id: number, group: string) => ({
  type: "Feature",
  properties: { id, group },
  geometry: {
    type: "Polygon",
    coordinates: [
      [
        [west, 0],
        [west + 1, 0],
        [west + 1, 1],
        [west, 1],
        [west, 0],
      ],
    ],
  },
});
const squares = JSON.stringify({
  type: "FeatureCollection",
  features: [square(0, 1, "a"), square(1, 2, "a"), square(5, 3, "b")],
});

describe("vector files", () => {
  let database: TestDatabase;
  let gdal: Gdal;
  let test: TestContext;

  beforeAll(async () => {
    [database, gdal] = await Promise.all([createTestDatabase(), createGdal()]);
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    test = await createTestContext({ database: database.db, gdal });
    onTestFinished(() => test.dispose());
  });

  async function place(name: string, content: string | Uint8Array): Promise<string> {
    const folder = path.join(test.folder, "storage/bronze");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, name), content);
    return `bronze/${name}`;
  }

  const prepare = async (name: string, content: string | Uint8Array, params: object = {}) =>
    (await test.run(prepareVector, {
      blob_path: await place(name, content),
      ...params,
    })) as Prepared;
  const refused = (code: string) => ({ code, category: "permanent" });

  it.each(["squares.kml", "squares.fgb", "squares.gpkg", "squares.geojsonl"])(
    "are read as %s",
    async (name) => {
      await place("squares.geojson", squares);
      const folder = path.join(test.folder, "storage/bronze");
      const args = [path.join(folder, name), path.join(folder, "squares.geojson")];
      await gdal.run("ogr2ogr", args, { workDir: test.folder });
      const prepared = (await test.run(prepareVector, { blob_path: `bronze/${name}` })) as Prepared;
      expect(prepared).toMatchObject({ feature_count: 3, bounds: [0, 0, 6, 1] });
    },
  );

  it("are points where a CSV has columns of degrees", async () => {
    const csv = 'Name,Lon,Lat,n\n"Köln, am Rhein",6.95,50.94,1\nnowhere,,,2\n';
    const prepared = await prepare("places.csv", csv);
    expect(prepared).toMatchObject({ geometry_type: "MultiPoint", feature_count: 1 });
    expect(prepared.findings.map(({ code }) => code)).toEqual(["CRS_ASSUMED", "GEOMETRY_NULL"]);
    expect(prepared.columns).toEqual([
      { name: "name", source: "Name", type: "text" },
      { name: "n", source: "n", type: "integer" },
    ]);
  });

  it("are refused where a CSV has metres and source_crs is missing", async () => {
    await expect(prepare("metres.csv", "x,y\n500000,5000000\n")).rejects.toMatchObject(
      refused("CRS_MISSING"),
    );
    const prepared = await prepare("metres.csv", "x,y\n500000,5000000\n", {
      source_crs: "EPSG:32633",
    });
    expect(prepared.bounds?.[0]).toBeCloseTo(15, 6);
  });

  it.each<[string, string, string]>([
    [
      "ten thousand columns",
      "wide.csv",
      `${Array.from({ length: 10_000 }, (_, i) => `c${i}`).join(",")}\n`,
    ],
    ["no geometry", "plain.csv", "a,b\n1,2\n"],
    ["a description of another file", "trick.geojson", "<OGRVRTDataSource></OGRVRTDataSource>"],
    ["damage", "broken.geojson", '{"type":"FeatureCollection","features":[{"type"'],
    ["nothing", "empty.geojson", ""],
    ["no feature", "none.geojson", '{"type":"FeatureCollection","features":[]}'],
    [
      "projected coordinates that claim to be degrees",
      "far.geojson",
      JSON.stringify({
        type: "Feature",
        properties: {},
        geometry: { type: "Point", coordinates: [500_000, 5_000_000] },
      }),
    ],
    ["a format that is not known", "table.ods", "PK"],
    ["an archive that is none", "archive.zip", "PK and nothing else"],
  ])("are refused for %s", async (_, name, content) => {
    const codes: Record<string, string> = {
      "wide.csv": "TOO_MANY_COLUMNS",
      "plain.csv": "NO_GEOMETRY",
      "trick.geojson": "INVALID_FORMAT",
      "broken.geojson": "FILE_UNREADABLE",
      "empty.geojson": "FILE_EMPTY",
      "none.geojson": "NO_FEATURES",
      "far.geojson": "COORDINATES_OUT_OF_RANGE",
      "table.ods": "UNSUPPORTED_FORMAT",
      "archive.zip": "NOT_A_ZIP",
    };
    await expect(prepare(name, content)).rejects.toMatchObject(refused(codes[name]!));
  });

  it("keep the system that they name, whatever name it is given", async () => {
    const same = await prepare("squares.geojson", squares, { source_crs: "OGC:CRS84" });
    expect(same.feature_count).toBe(3);
    await expect(
      prepare("squares.geojson", squares, { source_crs: "EPSG:32633" }),
    ).rejects.toMatchObject(refused("CRS_MISMATCH"));
    await expect(
      prepare("squares.geojson", squares, { source_crs: "/etc/passwd" }),
    ).rejects.toThrow("must be a code");
  });

  it("are cut at the antimeridian, and what only looked broken there is not repaired", async () => {
    const ring = [
      [170, 40],
      [-170, 50],
      [-170, 60],
      [170, 50],
      [170, 40],
    ];
    const feature = {
      type: "Feature",
      properties: {},
      geometry: { type: "Polygon", coordinates: [ring] },
    };
    const prepared = await prepare("pacific.geojson", JSON.stringify(feature));
    expect(prepared.findings.map(({ code, count }) => [code, count])).toEqual([
      ["ANTIMERIDIAN_SPLIT", 1],
    ]);
    expect(prepared.bounds).toEqual([-180, 40, 180, 60]);
  });

  it.skipIf(!hasGdal)("are simplified and dissolved into new files (needs GDAL)", async () => {
    const blob_path = await place("squares.geojson", squares);
    const dissolved = await test.run(dissolveVector, {
      blob_path,
      by: "group",
      output_path: "gold/groups.geojson",
    });
    expect(dissolved).toMatchObject({
      blob_path: "groups.geojson",
      container: "gold",
      feature_count: 2,
    });
    const simplified = await test.run(simplifyVector, { blob_path, tolerance: 0.1 });
    expect(simplified).toMatchObject({ container: "silver", feature_count: 3 });
    await expect(test.run(dissolveVector, { blob_path, by: "colour" })).rejects.toMatchObject(
      refused("COLUMN_NOT_FOUND"),
    );
  });

  it("become items of the catalogue, one for each table", async () => {
    const mixed = {
      type: "FeatureCollection",
      features: [
        square(0, 1, "a"),
        {
          type: "Feature",
          properties: { id: 9 },
          geometry: { type: "Point", coordinates: [1, 2] },
        },
      ],
    };
    const prepared = await prepare("mixed.geojson", JSON.stringify(mixed));
    for (const chunk of prepared.chunks) await test.run(uploadChunk, { chunk });
    const { table_names: tables } = (await test.run(publishVector, {
      load_id: prepared.load_id,
    })) as { table_names: string[] };
    const made = await test.run(createVectorStac, { collection_id: "c", item_id: "m", tables });
    expect(made).toEqual({
      collection_id: "c",
      item_id: "m_point",
      item_ids: ["m_point", "m_polygon"],
    });
    expect(await findItem(database.db, seesAll, "c", "m_point")).toMatchObject({
      bbox: [1, 2, 1, 2],
      assets: { features: { "rmhdag:table": "mixed_points" } },
    });
    await expect(
      test.run(createVectorStac, { collection_id: "c", tables: ["nothing"] }),
    ).rejects.toMatchObject(refused("TABLE_NOT_FOUND"));
  });

  it("are converted in parts at once where they are long, and in one piece if their types differ", async () => {
    const long = "x".repeat(2000);
    const features = Array.from({ length: 2200 }, (_, id) => square((id % 300) / 2, id, long));
    const text = (all: readonly object[]) => all.map((each) => JSON.stringify(each)).join("\n");
    const rowsOf = async (prepared: Prepared) => {
      const chunks = prepared.chunks.map((chunk) => test.storage.get(chunk.blob_path));
      const rows = (await Promise.all(chunks)).flatMap((chunk) =>
        Buffer.from(chunk).toString().trimEnd().split("\n"),
      );
      return rows.map((row) => row.split("\t").slice(2).join(" "));
    };
    const dumpsOf = async (name: RegExp) =>
      (await readdir(path.join(test.folder, "work"))).filter((file) => name.test(file)).length;
    const prepared = await prepare("long.geojsonl", text(features));
    const whole = await prepare(
      "whole.geojson",
      JSON.stringify({ type: "FeatureCollection", features }),
    );
    expect(await rowsOf(prepared)).toEqual(await rowsOf(whole));
    const { columns, findings } = whole;
    expect(prepared).toMatchObject({ feature_count: 2200, columns, findings });
    const cores = availableParallelism();
    expect(await dumpsOf(/^rows-long-\d-/)).toBe(cores > 1 ? Math.min(4, cores) : 0);

    const odd = { ...square(0, 0, long), properties: { id: 0.5, group: long } };
    const mixed = await prepare("mixed.geojsonl", text([...features, odd]));
    expect(mixed).toMatchObject({ feature_count: 2201, findings });
    expect(mixed.columns[0]).toMatchObject({ source: "id", type: "double precision" });
    expect(await dumpsOf(/^rows-mixed-[\da-f]{8}-/)).toBe(1);
  });

  it("of JSON lines with heights are reduced to two dimensions, and say so", async () => {
    const point = (...coordinates: number[]) =>
      JSON.stringify({ type: "Feature", properties: {}, geometry: { type: "Point", coordinates } });
    const flat = await prepare("flat.geojsonl", [point(1, 2), point(3, 4)].join("\n"));
    expect(flat.findings).toEqual([]);
    const high = await prepare("high.geojsonl", [point(1, 2), point(3, 4, 5)].join("\n"));
    expect(high.findings).toMatchObject([{ code: "DIMENSIONS_REDUCED" }]);
  });

  it("need a worker that has a database", async () => {
    const without = await createTestContext({ gdal });
    onTestFinished(() => without.dispose());
    await expect(
      without.run(prepareVector, { blob_path: "bronze/x.geojson" }),
    ).rejects.toMatchObject(refused("NO_DATABASE"));
  });
});

describe("without an installed GDAL", () => {
  it("gives the same rows", async () => {
    const database = await createTestDatabase();
    const [native, wasm] = await Promise.all([createGdal(), createGdal({ prefer: "wasm" })]);
    const bowtie = {
      type: "Feature",
      properties: { id: 4, group: "é" },
      geometry: {
        type: "Polygon",
        coordinates: [
          [
            [0, 0],
            [2, 2],
            [2, 0],
            [0, 2],
            [0, 0],
          ],
        ],
      },
    };
    const content = JSON.stringify({
      type: "FeatureCollection",
      features: [square(0, 1, "a"), bowtie],
    });
    const results: unknown[] = [];
    for (const gdal of [native, wasm]) {
      const test = await createTestContext({ database: database.db, gdal });
      onTestFinished(() => test.dispose());
      await mkdir(path.join(test.folder, "storage/bronze"), { recursive: true });
      await writeFile(path.join(test.folder, "storage/bronze/x.geojson"), content);
      const prepared = (await test.run(prepareVector, {
        blob_path: "bronze/x.geojson",
      })) as Prepared;
      const [chunk] = prepared.chunks;
      results.push([prepared, Buffer.from(await test.storage.get(chunk!.blob_path)).toString()]);
    }
    await database.drop();
    expect(results[1]).toEqual(results[0]);
  });
});
