/** Files made of a layer, read again by programs and libraries of others. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { describeForms } from "../../../../test/support/postgis.ts";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import type { Gdal } from "../../../adapters/gdal/gdal.ts";
import { exportVector } from "./export-layer.ts";
import { prepareVector } from "./prepare.ts";
import { publishVector, uploadChunk } from "./upload-publish.ts";

const endings: Record<string, string> = {
  geopackage: ".gpkg",
  flatgeobuf: ".fgb",
  geoparquet: ".parquet",
  pmtiles: ".pmtiles",
};
const csv = `code,n,day,at,share,note,wkt
007,9223372036854775807,2024-02-29,2024-02-29T10:00:00.123456Z,0.30000000000000004,"a
b","POLYGON ((0 0,10 0,10 10,0 10,0 0))"
012,5,,,0.5,,"MULTIPOLYGON (((170 -10,180 -10,180 10,170 10,170 -10)))"
`;

describeForms("a layer written", ({ form, create }) => {
  let database: TestDatabase;
  let gdal: Gdal;
  let test: TestContext;

  beforeAll(async () => {
    [database, gdal] = await Promise.all([create(), createGdal()]);
    test = await createTestContext({ database: database.db, gdal });
    await mkdir(path.join(test.folder, "storage/bronze"), { recursive: true });
    await writeFile(path.join(test.folder, "storage/bronze/fields.csv"), csv);
    await load("fields");
    await database.db.query("UPDATE geo.fields SET share = '-Infinity' WHERE code = '012'");
  });
  afterAll(async () => {
    await test.dispose();
    await database.drop();
  });

  async function load(name: string): Promise<void> {
    const params = { blob_path: `bronze/${name}.csv`, source_crs: "EPSG:4326" };
    const prepared = (await test.run(prepareVector, params)) as {
      chunks: object[];
      load_id: string;
    };
    for (const chunk of prepared.chunks) await test.run(uploadChunk, { chunk });
    await test.run(publishVector, { load_id: prepared.load_id });
  }

  async function write(
    format: string,
    table_name = "fields",
    { max_zoom = 3, by = test }: { max_zoom?: number; by?: TestContext } = {},
  ): Promise<string> {
    const made = (await by.run(exportVector, {
      table_name,
      format,
      output_path: `out/${format}${endings[format]}`,
      max_zoom,
    })) as { blob_path: string };
    return path.join(by.folder, "storage/silver", made.blob_path);
  }

  // The form of the table does not matter to GDAL, so its second engine writes one form only.
  const engines = form === "wkb" ? ["usual", "WebAssembly"] : ["usual"];
  const written = engines.flatMap<[string, string]>((engine) => [
    ["geopackage", engine],
    ["flatgeobuf", engine],
  ]);
  it.each(written)(
    "as %s has its types and places in GDAL, with the %s engine",
    async (format, engine) => {
      const other = { database: database.db, gdal: await createGdal({ prefer: "wasm" }) };
      const by = engine === "usual" ? test : await createTestContext(other);
      if (by !== test) onTestFinished(() => by.dispose());
      const file = await write(format, "fields", { by });
      const { stdout } = await gdal.run("ogrinfo", ["-ro", "-al", file], {
        workDir: test.folder,
        sources: [file],
      });
      expect(stdout).toMatch(/Geometry: Multi Polygon/);
      expect(stdout).toMatch(/Feature Count: 2/);
      expect(stdout).toMatch(/Extent: \(0\.0+, -10\.0+\) - \(180\.0+, 10\.0+\)/);
      expect(stdout).toMatch(/^code: String/m);
      expect(stdout).toMatch(/^n: Integer64/m);
      expect(stdout).toMatch(/n \(Integer64\) = 9223372036854775807/);
      expect(stdout).toMatch(/day \((?:Date|DateTime)\) = 2024\/02\/29/);
      expect(stdout).toMatch(/code \(String\) = 007/);
      expect(stdout).toMatch(/at \(DateTime\) = 2024\/02\/29 10:00:00\.123/);
      expect(stdout).toMatch(/share \(Real\) = 0\.3/);
      expect(stdout).toMatch(/share \(Real\) = -inf/);
      expect(stdout).toMatch(/note \(String\) = a\nb/);
    },
  );

  it("as GeoParquet is read by its metadata", async () => {
    const file = await asyncBufferFromFile(await write("geoparquet"));
    const metadata = await parquetMetadataAsync(file);
    const geo = metadata.key_value_metadata?.find(({ key }) => key === "geo")?.value ?? "{}";
    expect(JSON.parse(geo)).toMatchObject({
      version: "1.1.0",
      primary_column: "geometry",
      columns: {
        geometry: {
          encoding: "WKB",
          geometry_types: ["MultiPolygon"],
          covering: {
            bbox: {
              xmin: ["bbox", "xmin"],
              ymin: ["bbox", "ymin"],
              xmax: ["bbox", "xmax"],
              ymax: ["bbox", "ymax"],
            },
          },
        },
      },
    });
    // Without this hyparquet gives a Date, which holds milliseconds.
    const parsers = { timestampFromMicroseconds: (value: bigint) => value };
    const read = await parquetReadObjects({ file, metadata, parsers });
    const rows = read.toSorted((a, b) => String(a["code"]).localeCompare(String(b["code"])));
    expect(rows[0]).toMatchObject({
      code: "007",
      n: 9223372036854775807n,
      day: new Date("2024-02-29"),
      at: BigInt(Date.UTC(2024, 1, 29, 10)) * 1000n + 123456n,
      share: 0.1 + 0.2,
      geometry: { type: "MultiPolygon" },
      bbox: { xmin: 0, ymin: 0, xmax: 10, ymax: 10 },
    });
    expect(rows[1]).toMatchObject({
      code: "012",
      share: -Infinity,
      bbox: { xmin: 170, ymin: -10, xmax: 180, ymax: 10 },
    });
  });

  it("as GeoParquet has row groups that a window can skip", async () => {
    // Two heaps of points that alternate in the source, and that the row groups hold apart.
    const lines = Array.from({ length: 6000 }, (_, index) => {
      const x = (index % 6 === 0 ? -100 : 100) + (index % 97) / 97;
      return `${index},"POINT (${x} ${20 + (index % 89) / 89})"`;
    });
    await writeFile(
      path.join(test.folder, "storage/bronze/heaps.csv"),
      `code,wkt\n${lines.join("\n")}\n`,
    );
    await load("heaps");
    const file = await asyncBufferFromFile(await write("geoparquet", "heaps"));
    const metadata = await parquetMetadataAsync(file);
    expect(Number(metadata.num_rows)).toBe(6000);
    const west = metadata.row_groups.map(({ columns }) => {
      const of = columns.find(
        ({ meta_data }) => meta_data?.path_in_schema.join(".") === "bbox.xmin",
      );
      const { min_value, max_value } = of!.meta_data!.statistics!;
      return [Number(min_value), Number(max_value)] as const;
    });
    expect(west).toHaveLength(2);
    // In the order of the source both groups would hold features of both heaps.
    expect(west.filter(([least]) => least < 0)).toHaveLength(1);
    const rows = await parquetReadObjects({ file, metadata });
    expect(new Set(rows.map(({ code }) => code as string)).size).toBe(6000);
  });

  it("as PMTiles has the layer in every zoom", async () => {
    const file = await write("pmtiles");
    // GDAL has a driver for it from 3.8 on, as the WebAssembly engine is.
    const wasm = await createGdal({ prefer: "wasm" });
    expect(wasm.capabilities.vectorDrivers).toContain("PMTiles");
    const at = (zoom: number) =>
      wasm.run("ogrinfo", ["-ro", "-al", "-oo", `ZOOM_LEVEL=${zoom}`, file], {
        workDir: test.folder,
        sources: [file],
        drivers: ["PMTiles", "MVT"],
      });
    for (const zoom of [0, 3]) {
      const { stdout } = await at(zoom);
      expect(stdout).toMatch(/Layer name: default/);
      expect(stdout).toMatch(/code \(String\) = 007/);
      expect(stdout).toMatch(/code \(String\) = 012/);
    }
  });

  it("as PMTiles is refused where the zoom that is asked for has too many tiles", async () => {
    const told =
      /max_zoom 14 has 7,\d{3},\d{3} tiles here, and at most 200,000 are written; .* is 11\./;
    await expect(write("pmtiles", "fields", { max_zoom: 14 })).rejects.toThrow(told);
  });
});
