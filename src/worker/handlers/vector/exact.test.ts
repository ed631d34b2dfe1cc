/** Values and shapes of vector files, compared with GDAL's and with what the file says. */
import { execFile } from "node:child_process";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { z } from "zod";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import { packZip } from "../../../../test/support/zip.ts";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import type { Gdal } from "../../../adapters/gdal/gdal.ts";
import type { vectorContracts } from "../../../core/handlers/vector.ts";
import { readWkb } from "../../../core/vector/read-wkb.ts";
import type { Parts } from "../../../core/vector/parts.ts";
import { signedArea } from "../../../core/vector/parts.ts";
import { prepareVector } from "./prepare.ts";
import { publishVector, uploadChunk } from "./upload-publish.ts";

type Prepared = z.output<
  Extract<(typeof vectorContracts)[number], { name: "vector_prepare" }>["result"]
>;
const engines = hasGdal ? (["native", "wasm"] as const) : (["wasm"] as const);

describe.each(engines)("on the engine %s", (engine) => {
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

  const inBronze = (name: string) => path.join(test.folder, "storage/bronze", name);

  async function place(name: string, content: string | Uint8Array): Promise<string> {
    await mkdir(inBronze(""), { recursive: true });
    await writeFile(inBronze(name), content);
    return `bronze/${name}`;
  }

  /** Makes a file of another format with GDAL, from GeoJSON or CSV. */
  async function convert(name: string, source: string, content: string, ...args: string[]) {
    await place(source, content);
    await gdal.run("ogr2ogr", [...args, inBronze(name), inBronze(source)], {
      workDir: test.folder,
    });
    return `bronze/${name}`;
  }

  async function load(blob_path: string, params: object = {}) {
    const prepared = (await test.run(prepareVector, { blob_path, ...params })) as Prepared;
    for (const chunk of prepared.chunks) await test.run(uploadChunk, { chunk });
    await test.run(publishVector, { load_id: prepared.load_id });
    return prepared;
  }

  const rows = async (text: string) =>
    (await database.db.query<Record<string, unknown>>(text)).rows;
  const counted = ({ findings }: Prepared) =>
    Object.fromEntries(findings.map(({ code, count }) => [code, count]));
  const typesOf = ({ columns }: Prepared) =>
    Object.fromEntries(columns.map(({ name, type }) => [name, type]));

  const texts = {
    first: "one\ntwo\r\nthree",
    middle: 'tab\there, back\\slash\\n, "quoted"',
    n: 1,
    list: ["a\nb", "c\\d", 'e"f', "g\\"],
    last: "ends in a break\n",
  };
  const point = (properties: object, coordinates = [1, 2]) => ({
    type: "Feature",
    properties,
    geometry: { type: "Point", coordinates },
  });
  const collection = (...features: object[]) =>
    JSON.stringify({ type: "FeatureCollection", features });

  describe("text", () => {
    it.each(["texts.geojson", "texts.geojsonl", "texts.gpkg", "texts.fgb"])(
      "keeps its line breaks and tabs in every column of %s",
      async (name) => {
        const { list, ...plain } = texts;
        const isJson = name.includes("geojson");
        const all = isJson ? texts : plain;
        const features = [point(all), point({ ...all, n: 2 })];
        const lines = features.map((feature) => JSON.stringify(feature)).join("\n");
        const blob =
          name === "texts.geojsonl"
            ? await place(name, lines)
            : name === "texts.geojson"
              ? await place(name, collection(...features))
              : await convert(name, "texts.json", collection(...features));
        await load(blob, { table_name: "texts" });
        const stored = await rows("SELECT * FROM geo.texts ORDER BY n");
        expect(stored).toHaveLength(2);
        expect(stored[0]).toMatchObject(plain);
        if (isJson) expect(stored[0]).toMatchObject({ list });
      },
    );

    it("keeps its line breaks in the columns of a CSV", async () => {
      const csv = 'first,lon,lat,last\n"a\nb",1,2,"c\r\nd\te"\nplain,1,2,"back\\"\n';
      await load(await place("texts.csv", csv));
      expect(await rows("SELECT first, last FROM geo.texts ORDER BY fid")).toEqual([
        { first: "a\nb", last: expect.stringMatching(/^c\r?\nd\te$/) as string },
        { first: "plain", last: "back\\" },
      ]);
    });

    it("of a CSV beyond the last column is told", async () => {
      const csv = "lon,lat,name\n1,2,Smith, John\n3,4,b\n";
      const prepared = await load(await place("wide.csv", csv));
      expect(counted(prepared)).toMatchObject({ VALUES_BEYOND_COLUMNS: 1 });
    });

    it("is not cut off at NUL", async () => {
      const json = await load(
        await place("nul.geojson", collection(point({ a: "x\u0000y", b: 1 }))),
      );
      expect(counted(json)).toEqual({ TEXT_NUL: 1 });
      expect(await rows("SELECT a, b FROM geo.nul")).toEqual([{ a: "x\ufffdy", b: 1 }]);
      const csv = await load(await place("nul.csv", "a,lon,lat\nx\u0000y,1,2\n"));
      expect(counted(csv)).toMatchObject({ TEXT_NUL: 1 });
      expect(await rows("SELECT a FROM geo.nul")).toEqual([{ a: "xy" }]);
    });

    it("is read in the encoding that is given, also of a CSV", async () => {
      const latin = Buffer.from("name,lon,lat\nKöln,6.95,50.94\n", "latin1");
      await expect(load(await place("latin.csv", latin))).rejects.toMatchObject({
        code: "ENCODING_INVALID",
      });
      const prepared = await load(await place("latin.csv", latin), { encoding: "CP1252" });
      expect(counted(prepared)).toMatchObject({ ENCODING_ASSIGNED: 1 });
      expect(await rows("SELECT name FROM geo.latin")).toEqual([{ name: "Köln" }]);
      const wide = Buffer.from("\ufeffname,lon,lat\nKöln,6.95,50.94\n", "utf16le");
      await load(await place("latin.csv", wide));
      expect(await rows("SELECT name FROM geo.latin")).toEqual([{ name: "Köln" }]);
      // As Excel writes UTF-8, where the first column is one of coordinates.
      const marked = await load(await place("latin.csv", "\ufefflon,lat,name\n6.95,50.94,Köln\n"));
      expect(marked).toMatchObject({ feature_count: 1 });
      expect(await rows("SELECT name FROM geo.latin")).toEqual([{ name: "Köln" }]);
      await expect(
        load(await place("latin.csv", latin), { encoding: "klingon" }),
      ).rejects.toMatchObject({ code: "ENCODING_UNKNOWN" });
    });
  });

  describe("numbers", () => {
    it("of a CSV keep their zeros and their digits", async () => {
      const csv =
        "code,big,id,share,lon,lat\n007,18446744073709551615,9223372036854775807,0.5,1,2\n12,5,1,1,1,2\n";
      const prepared = await load(await place("codes.csv", csv));
      expect(typesOf(prepared)).toEqual({
        code: "text",
        big: "text",
        source_id: "bigint",
        share: "double precision",
      });
      expect(counted(prepared)).toMatchObject({ INTEGERS_AS_TEXT: 1 });
      expect(await rows("SELECT code, big FROM geo.codes ORDER BY fid")).toEqual([
        { code: "007", big: "18446744073709551615" },
        { code: "12", big: "5" },
      ]);
    });

    it("of GeoJSON are not clamped to 64 bits", async () => {
      const text = collection(point({ big: "HUGE" }), point({ big: 5 })).replace(
        '"HUGE"',
        "18446744073709551615",
      );
      const prepared = await load(await place("huge.geojson", text));
      expect(counted(prepared)).toMatchObject({ INTEGERS_AS_TEXT: 1 });
      expect(await rows("SELECT big FROM geo.huge ORDER BY fid")).toEqual([
        { big: "18446744073709551615" },
        { big: "5" },
      ]);
    });
  });

  async function shapes(table: string): Promise<Parts[]> {
    const found = await rows(`SELECT geom FROM geo.${table} ORDER BY fid`);
    return found.map(({ geom }) => readWkb(geom as Uint8Array));
  }
  const areaOf = ({ polygons }: Parts) =>
    polygons.flat().reduce((sum, ring) => sum + signedArea(ring) / 2, 0);

  it("curves become straight lines before they are projected", async () => {
    const circle =
      "CIRCULARSTRING (500000 6650000,501000 6651000,502000 6650000,501000 6649000,500000 6650000)";
    const wkt = [
      `CURVEPOLYGON (${circle})`,
      `MULTISURFACE (CURVEPOLYGON (${circle}))`,
      `GEOMETRYCOLLECTION (CURVEPOLYGON (${circle}))`,
      "CURVEPOLYGON (COMPOUNDCURVE (CIRCULARSTRING (500000 6650000,501000 6651000,502000 6650000),(502000 6650000,500000 6650000)))",
      "POLYGON ((500000 6650000,501000 6650000,501000 6651000,500000 6650000))",
    ];
    const csv = `id,wkt\n${wkt.map((text, index) => `${index},"${text}"`).join("\n")}\n`;
    const options = ["-oo", "GEOM_POSSIBLE_NAMES=wkt", "-a_srs", "EPSG:32633", "-nlt", "GEOMETRY"];
    const blob = await convert("curves.gpkg", "curves.csv", csv, "-f", "GPKG", ...options);
    const prepared = await load(blob);
    expect(counted(prepared)).toMatchObject({ CURVES_LINEARISED: 4 });
    expect(prepared.feature_count).toBe(5);
    // As ogr2ogr -nlt CONVERT_TO_LINEAR and then ogr2ogr -t_srs EPSG:4326 gives it.
    const areas = (await shapes("curves")).map(areaOf).sort((a, b) => a - b);
    for (const area of areas.slice(2)) expect(area).toBeCloseTo(0.00050514029455262, 9);
    expect(areas[1]).toBeCloseTo(0.0002526, 6);
  });

  it("polygons that are cut at 180° already stay two, and rings round a pole reach it", async () => {
    const fiji = {
      type: "MultiPolygon",
      coordinates: [
        [
          [
            [180, -16.067133],
            [180, -16.555217],
            [179.364143, -16.801354],
            [178.725059, -17.012042],
            [178.596839, -16.63915],
            [179.096609, -16.433984],
            [179.413509, -16.379054],
            [180, -16.067133],
          ],
        ],
        [
          [
            [178.12557, -17.50481],
            [178.3736, -17.33992],
            [178.71806, -17.62846],
            [178.55271, -18.15059],
            [177.93266, -18.28799],
            [177.38146, -18.16432],
            [177.28504, -17.72465],
            [177.67087, -17.38114],
            [178.12557, -17.50481],
          ],
        ],
        [
          [
            [-179.79332, -16.020882],
            [-179.917369, -16.501783],
            [-180, -16.555217],
            [-180, -16.067133],
            [-179.79332, -16.020882],
          ],
        ],
      ],
    };
    const text = collection({ type: "Feature", properties: {}, geometry: fiji });
    const islands = await load(
      await convert("fiji.gpkg", "fiji.json", text, "-t_srs", "EPSG:3832"),
    );
    expect(islands.bounds![1]).toBeCloseTo(-18.28799, 6);
    // The area on the map of the parts, in square degrees.
    expect(areaOf((await shapes("fiji"))[0]!)).toBeCloseTo(1.6395116, 6);
    const ring = Array.from({ length: 37 }, (_, index) => [10 * (index % 36) - 180, -70]);
    const ice = collection({
      type: "Feature",
      properties: {},
      geometry: { type: "Polygon", coordinates: [ring.map(([lon]) => polar(lon!, 2_200_000))] },
    });
    const options = ["-a_srs", "EPSG:3031"];
    const prepared = await load(await convert("ice.gpkg", "ice.json", ice, ...options));
    expect(prepared.bounds!.slice(0, 3)).toEqual([-180, -90, 180]);
    const [cap] = await shapes("ice");
    const [, , , north = 0] = prepared.bounds ?? [];
    expect(areaOf(cap!)).toBeCloseTo(360 * (90 + north), 3);
  });

  /** A place of EPSG:3031, at a distance from the south pole in metres. */
  const polar = (lon: number, metres: number) => [
    metres * Math.sin((lon * Math.PI) / 180),
    metres * Math.cos((lon * Math.PI) / 180),
  ];

  it("multipatches and surfaces are valid polygons", async () => {
    const cube =
      "MULTIPOLYGON Z (((0 0 0,0 1 0,1 1 0,1 0 0,0 0 0)),((0 0 0,0 1 0,0 1 1,0 0 1,0 0 0)),((1 1 1,1 0 1,0 0 1,0 1 1,1 1 1)))";
    const csv = `id,wkt\n1,"${cube}"\n`;
    const options = ["-oo", "GEOM_POSSIBLE_NAMES=wkt", "-a_srs", "EPSG:4326"];
    const patch = ["-lco", "SHPT=MULTIPATCH"];
    const blob = await convert("patch.shp", "patch.csv", csv, ...options, ...patch);
    expect(counted(await load(blob))).toMatchObject({ GEOMETRY_REPAIRED: 1 });
    const [square] = await shapes("patch");
    // The square that the cube covers, once: PostGIS would take overlapping parts for invalid.
    expect([square!.polygons.length, areaOf(square!)]).toEqual([1, 1]);
  });

  it("KMZ is read whatever its document is called", async () => {
    const kml =
      '<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>Köln</name><Point><coordinates>6.95,50.94,9</coordinates></Point></Placemark></Document></kml>';
    const entries = [
      { name: "files/icon.png", content: Buffer.from("not drawn") },
      { name: "my map.kml", content: Buffer.from(kml) },
    ];
    const prepared = await load(await place("trip.kmz", packZip(...entries)));
    expect(prepared).toMatchObject({ feature_count: 1, bounds: [6.95, 50.94, 6.95, 50.94] });
  });

  describe("the format", () => {
    const towns = collection(
      point({ name: "Köln\nam Rhein", code: "007", pop: 1_085_664 }, [6.95, 50.94]),
      point({ name: "Genève", code: "012", pop: 203_856 }, [6.15, 46.2]),
    );
    const bounds = [6.15, 46.2, 6.95, 50.94];

    it.each(["towns.gml", "towns.gpkg", "towns.shp", "towns.geojsonl", "towns.kml"])(
      "%s gives features where they belong",
      async (name) => {
        const prepared = await load(await convert(name, "source.json", towns, "-nln", "towns"));
        expect(prepared).toMatchObject({ feature_count: 2, geometry_type: "MultiPoint" });
        for (const [index, value] of bounds.entries()) {
          expect(prepared.bounds![index]).toBeCloseTo(value, 6);
        }
        if (name.endsWith(".kml")) return;
        const [row] = await rows("SELECT * FROM geo.towns");
        // Neither engine makes attributes of the boxes around features of GML.
        const added = ["fid", "etl_batch_id", "geom", "bounds", "gml_id"];
        const own = Object.keys(row!).filter((column) => !added.includes(column));
        expect(own).toEqual(["name", "code", "pop"]);
        expect(await rows("SELECT code FROM geo.towns ORDER BY code")).toEqual([
          { code: "007" },
          { code: "012" },
        ]);
      },
    );

    it.skipIf(!hasGdal)("File Geodatabase comes in an archive, with every layer", async () => {
      await place("source.json", towns);
      // The WebAssembly engine reads geodatabases, and does not write them.
      const writer = await createGdal({ prefer: "native" });
      for (const name of ["towns", "places"]) {
        const how = ["-f", "OpenFileGDB", ...(name === "towns" ? [] : ["-update"]), "-nln", name];
        const args = [...how, inBronze("towns.gdb"), inBronze("source.json")];
        await writer.run("ogr2ogr", args, { workDir: test.folder });
      }
      const files = await readdir(inBronze("towns.gdb"));
      const entries = await Promise.all(
        files.map(async (name) => ({
          name: `data/towns.gdb/${name}`,
          content: await readFile(path.join(inBronze("towns.gdb"), name)),
        })),
      );
      const prepared = await load(await place("geodatabase.zip", packZip(...entries)));
      expect(
        prepared.tables.map(({ table_name, feature_count }) => [table_name, feature_count]),
      ).toEqual([
        ["towns_towns", 2],
        ["towns_places", 2],
      ]);
      expect(await rows("SELECT name FROM geo.towns_places ORDER BY pop")).toEqual([
        { name: "Genève" },
        { name: "Köln\nam Rhein" },
      ]);
    });

    it("GPX gives a table for each kind of thing", async () => {
      const gpx = `<?xml version="1.0"?><gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1">
        <wpt lat="50.94" lon="6.95"><name>Köln</name></wpt>
        <trk><name>way</name><trkseg><trkpt lat="1" lon="2"/><trkpt lat="3" lon="4"/></trkseg></trk></gpx>`;
      const prepared = await load(await place("trip.gpx", gpx));
      expect(prepared.tables.map(({ table_name }) => table_name).sort()).toEqual([
        "trip_track_points",
        "trip_tracks",
        "trip_waypoints",
      ]);
      expect(counted(prepared)).toMatchObject({ LAYERS_EMPTY: 2 });
    });

    it("TopoJSON is read by its content", async () => {
      const topology = {
        type: "Topology",
        objects: { ways: { type: "LineString", arcs: [0], properties: { name: "a" } } },
        arcs: [
          [
            [0, 0],
            [10, 5],
          ],
        ],
      };
      for (const name of ["ways.topojson", "ways.json"]) {
        const prepared = await load(await place(name, JSON.stringify(topology)));
        expect(prepared).toMatchObject({ feature_count: 1, bounds: [0, 0, 10, 5] });
      }
    });

    it("DXF needs a system, and is drawn in it", async () => {
      const dxf =
        "  0\nSECTION\n  2\nENTITIES\n  0\nLINE\n  8\nwalls\n 10\n500000\n 20\n5000000\n 11\n500100\n 21\n5000100\n  0\nENDSEC\n  0\nEOF\n";
      await expect(load(await place("plan.dxf", dxf))).rejects.toMatchObject({
        code: "CRS_MISSING",
      });
      const prepared = await load(await place("plan.dxf", dxf), { source_crs: "EPSG:32633" });
      expect(prepared.geometry_type).toBe("MultiLineString");
      expect(prepared.bounds![0]).toBeCloseTo(15, 6);
      expect(await rows("SELECT layer FROM geo.plan")).toEqual([{ layer: "walls" }]);
    });

    it.each(["table.xlsx", "table.dbf"])("%s gives points by its columns", async (name) => {
      const csv = "name,code,lon,lat\nKöln,007,6.95,50.94\nGenève,012,6.15,46.2\n";
      const prepared = await load(await convert(name, "source.csv", csv));
      expect(prepared).toMatchObject({ feature_count: 2, bounds });
      expect(
        await rows(
          "SELECT name, code FROM geo.table ORDER BY code".replace(
            "geo.table",
            `geo."${prepared.table_name}"`,
          ),
        ),
      ).toEqual([
        { name: "Köln", code: "007" },
        { name: "Genève", code: "012" },
      ]);
    });

    it("GeoParquet keeps its types and its system", async () => {
      const source = await readFile(fixture("vector/squares_utm33_zstd.parquet"));
      const prepared = await load(await place("squares.parquet", source));
      expect(counted(prepared)).toEqual({ GEOMETRY_NULL: 1 });
      expect(typesOf(prepared)).toEqual({
        name: "text",
        n: "bigint",
        ratio: "double precision",
        day: "date",
        at: "timestamptz",
        ok: "boolean",
        tags: "jsonb",
      });
      // As PROJ gives it for (0, 5000000) and (501000, 5001000) in EPSG:32633.
      const corners = [8.657601, 44.977061, 15.012724, 45.162478];
      expect(prepared.bounds![0]).toBeCloseTo(corners[0]!, 6);
      expect(prepared.bounds![2]).toBeCloseTo(corners[2]!, 6);
      expect(await rows("SELECT name, n::text, ok, tags FROM geo.squares ORDER BY fid")).toEqual([
        { name: "Köln\nam Rhein", n: "1", ok: true, tags: ["a", "b"] },
        { name: "007", n: "9007199254740993", ok: false, tags: [] },
      ]);
      await expect(
        load(await place("squares.parquet", source), { source_crs: "EPSG:4326" }),
      ).rejects.toMatchObject({ code: "CRS_MISMATCH" });
      const plain = Buffer.from(source.toString("latin1").replaceAll('"geo', '"gex'), "latin1");
      await expect(load(await place("damaged.parquet", plain.subarray(100)))).rejects.toMatchObject(
        {
          code: "INVALID_FORMAT",
        },
      );
    });

    it("XLSX without coordinates is refused with what to name", async () => {
      const blob = await convert("plain.xlsx", "source.csv", "a,b\n1,2\n");
      await expect(load(blob)).rejects.toMatchObject({ code: "NO_GEOMETRY" });
    });

    it("CSV takes its geometry from the column that is named", async () => {
      const csv = 'name,shape\na,"LINESTRING (1 2,3 4)"\n';
      await expect(load(await place("shapes.csv", csv))).rejects.toMatchObject({
        code: "NO_GEOMETRY",
      });
      const named = { geometry_column: "shape", source_crs: "EPSG:4326" };
      expect(await load(await place("shapes.csv", csv), named)).toMatchObject({
        geometry_type: "MultiLineString",
        bounds: [1, 2, 3, 4],
      });
    });
  });

  it("every layer of a file is loaded in one job", async () => {
    const first = await convert(
      "many.gpkg",
      "a.geojson",
      collection(point({ a: 1 })),
      "-nln",
      "Städte",
    );
    const line = {
      type: "LineString",
      coordinates: [
        [0, 0],
        [1, 1],
      ],
    };
    const lines = collection({ type: "Feature", properties: { b: 2 }, geometry: line });
    await convert("many.gpkg", "b.geojson", lines, "-update", "-nln", "rivers");
    const prepared = await load(first);
    expect(prepared.tables.map(({ table_name }) => table_name)).toEqual([
      "many_stadte",
      "many_rivers",
    ]);
    expect(await rows("SELECT b FROM geo.many_rivers")).toEqual([{ b: 2 }]);
    const one = await load(first, { layer: "rivers" });
    expect(one.tables.map(({ table_name }) => table_name)).toEqual(["many"]);
  });

  it("a count that a header claims is not believed", async () => {
    const blob = await convert("claims.gpkg", "a.geojson", collection(point({ a: 1 })));
    const python = `import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("update gpkg_ogr_contents set feature_count=9223372036854775807"); c.commit()`;
    await promisify(execFile)("python3", ["-c", python, inBronze("claims.gpkg")]);
    const prepared = await load(blob);
    expect(prepared).toMatchObject({ feature_count: 1, source_feature_count: 1 });
    expect(counted(prepared)).toEqual({ FEATURE_COUNT_WRONG: 1 });
  });

  it("the hash is that of the submitted file, although it was mended", async () => {
    const plain = await load(await place("hash.csv", "a,lon,lat\nx,1,2\n"));
    const mended = await load(await place("hash.csv", "a,lon,lat\nx\u0000,1,2\n"));
    expect(mended.content_hash).not.toBe(plain.content_hash);
    expect((await readFile(inBronze("hash.csv"))).includes(0)).toBe(true);
  });
});
