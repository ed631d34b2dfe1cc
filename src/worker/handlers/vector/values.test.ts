/** Values and places that GDAL changes on its way, unless it is kept from it. */
import { execFile } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { fixture } from "../../../../test/support/fixtures.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import {
  collection,
  counted,
  openVectorTest,
  point,
  typesOf,
} from "../../../../test/support/load-vector.ts";
import type { VectorTest } from "../../../../test/support/load-vector.ts";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import type { Gdal } from "../../../adapters/gdal/gdal.ts";
import { findItem } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { createVectorStac } from "./create-stac.ts";

const line = {
  type: "Feature",
  properties: {},
  geometry: {
    type: "LineString",
    coordinates: [
      [1, 2],
      [3, 4],
    ],
  },
};
const engines = hasGdal ? (["native", "wasm"] as const) : (["wasm"] as const);

describe.each(engines)("on the engine %s", (engine) => {
  let database: TestDatabase;
  let gdal: Gdal;
  let opened: VectorTest;

  beforeAll(async () => {
    [database, gdal] = await Promise.all([createTestDatabase(), createGdal({ prefer: engine })]);
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    opened = await openVectorTest(database.db, gdal);
    onTestFinished(() => opened.test.dispose());
  });
  const inBronze: VectorTest["inBronze"] = (...given) => opened.inBronze(...given);
  const place: VectorTest["place"] = (...given) => opened.place(...given);
  const convert: VectorTest["convert"] = (...given) => opened.convert(...given);
  const load: VectorTest["load"] = (...given) => opened.load(...given);
  const rows: VectorTest["rows"] = (...given) => opened.rows(...given);

  describe("values that their column's type does not hold", () => {
    it("of a GeoPackage keep what they are", async () => {
      const features = Array.from({ length: 5 }, (_, n) => point({ n }));
      const blob = await convert("loose.gpkg", "loose.json", collection(...features));
      const columns: Record<string, readonly [type: string, ...values: string[]]> = {
        // The first of these became -1, 9223372036854775807 and 0.
        mid: ["MEDIUMINT", "18446744073709551615", "1"],
        big: ["INTEGER", "18446744073709551615", "9007199254740993"],
        wide: ["MEDIUMINT", "4294967297", "-1"],
        share: ["INTEGER", "1.5", "2"],
        word: ["INTEGER", "'abc'", "7"],
        flag: ["BOOLEAN", "5", "1"],
        real: ["DOUBLE", "0.1 + 0.2", "'abc'"],
        exact: ["DOUBLE", "0.1 + 0.2", "1e300"],
        single: ["FLOAT", "1.1", "123456789.125"],
        day: ["DATE", "'yesterday'", "'2024-01-31'"],
        short: ["TEXT(3)", "'longer than that'", "'abc'"],
        good: ["MEDIUMINT", "-2147483648", "2147483647"],
        'odd "name"': ["MEDIUMINT", "x'00ff'", "NULL"],
      };
      const python = `import sqlite3,sys,json
c=sqlite3.connect(sys.argv[1])
for (t,) in c.execute("select name from sqlite_master where type='trigger'").fetchall(): c.execute(f'drop trigger "{t}"')
for name,(type,*values) in json.loads(sys.argv[2]).items():
  name='"'+name.replace('"','""')+'"'
  c.execute(f'alter table loose add column {name} {type}')
  for fid,value in enumerate(values,1): c.execute(f'update loose set {name}={value} where fid={fid}')
c.commit()`;
      const args = ["-c", python, inBronze("loose.gpkg"), JSON.stringify(columns)];
      await promisify(execFile)("python3", args);
      const prepared = await load(blob);
      expect(counted(prepared)).toMatchObject({ COLUMN_TYPES_CHANGED: 9 });
      expect(typesOf(prepared)).toMatchObject({
        mid: "double precision",
        big: "text",
        wide: "bigint",
        share: "double precision",
        word: "text",
        flag: "bigint",
        real: "text",
        exact: "double precision",
        day: "text",
        good: "integer",
        odd_name: "text",
      });
      const stored = await rows(
        "SELECT *, wide::text AS wide, flag::text AS flag FROM geo.loose WHERE n < 2 ORDER BY n",
      );
      expect(stored).toMatchObject([
        { mid: 2 ** 64, big: "1.8446744073709552e+19", wide: "4294967297", share: 1.5 },
        { mid: 1, big: "9007199254740993", wide: "-1", share: 2 },
      ]);
      expect(stored).toMatchObject([
        { word: "abc", flag: "5", real: "0.30000000000000004", exact: 0.1 + 0.2, single: 1.1 },
        { word: "7", flag: "1", real: "abc", exact: 1e300, single: 123_456_789.125 },
      ]);
      expect(stored).toMatchObject([
        { day: "yesterday", short: "longer than that", good: -2147483648, odd_name: "00FF" },
        { day: "2024-01-31", short: "abc", good: 2147483647, odd_name: null },
      ]);
      // What was read by a wrong guess is gone.
      const left = (await readdir(opened.test.context.workDir)).filter((name) =>
        name.startsWith("rows-"),
      );
      expect(left).toHaveLength(1);
    });

    it("of a long GeoPackage, which is converted in parts, keep their order", async () => {
      const lines = Array.from({ length: 20_000 }, (_, n) => `${n % 90},1,${n},t${n}`);
      const text = ["lon,lat,n,t", ...lines].join("\n");
      const options = ["-oo", "X_POSSIBLE_NAMES=lon", "-oo", "Y_POSSIBLE_NAMES=lat"];
      const more = [...options, "-oo", "AUTODETECT_TYPE=YES", "-a_srs", "EPSG:4326"];
      const blob = await convert("long.gpkg", "long.csv", text, "-f", "GPKG", ...more);
      const prepared = await load(blob);
      expect(prepared).toMatchObject({ feature_count: 20_000, source_feature_count: 20_000 });
      const sql = `SELECT count(DISTINCT n)::int AS numbers, bool_and(n::int = fid - 1) AS "isInOrder",
        bool_and(t = 't' || n) AS "isWhole" FROM geo.long`;
      expect(await rows(sql)).toEqual([{ numbers: 20_000, isInOrder: true, isWhole: true }]);
    });

    it("of a GeoPackage are found among very many columns", async () => {
      const names = Array.from({ length: 400 }, (_, index) => `c${index}`);
      const values = (last: number) =>
        Object.fromEntries(names.map((name, index) => [name, index === 399 ? last : index]));
      const text = collection(point(values(1)), point(values(2)));
      const blob = await convert("wide.gpkg", "wide.json", text);
      const python = `import sqlite3,sys; c=sqlite3.connect(sys.argv[1])
for (t,) in c.execute("select name from sqlite_master where type='trigger'").fetchall(): c.execute(f'drop trigger "{t}"')
c.execute("update wide set c399=1.5 where fid=1"); c.commit()`;
      await promisify(execFile)("python3", ["-c", python, inBronze("wide.gpkg")]);
      const prepared = await load(blob);
      expect(typesOf(prepared)).toMatchObject({ c0: "integer", c399: "double precision" });
      expect(await rows("SELECT c399 FROM geo.wide ORDER BY c399")).toEqual([
        { c399: 1.5 },
        { c399: 2 },
      ]);
    });

    it("reals of a GeoPackage stay reals, however many digits they have", async () => {
      const features = [
        point({ n: 1, half: 0.5, third: 1 / 3, on: true, none: null, at: "2024-05-01" }),
        point({ n: 2, half: -2, third: 5e-324, on: false, none: 1.25, at: "2024-05-02" }),
      ];
      const prepared = await load(
        await convert("reals.gpkg", "reals.json", collection(...features)),
      );
      expect(counted(prepared)).not.toHaveProperty("COLUMN_TYPES_CHANGED");
      const real = "double precision";
      expect(typesOf(prepared)).toMatchObject({
        half: real,
        third: real,
        none: real,
        n: "integer",
      });
      expect(await rows("SELECT half, third, none, at FROM geo.reals ORDER BY n")).toMatchObject([
        { half: 0.5, third: 1 / 3, none: null },
        { half: -2, third: 5e-324, none: 1.25 },
      ]);
    });

    it("of a FlatGeobuf are its unsigned integers and all digits of its reals", async () => {
      const make = (name: string, type: string) =>
        convert(
          name,
          "unsigned.json",
          collection(point({ big: -1, r: 0.1 + 0.2 }), point({ big: 5, r: 5e-324 })),
          ...["-sql", `SELECT CAST(big AS ${type}), r FROM unsigned`, "-dialect", "OGRSQL"],
        );
      const blob = await make("unsigned.fgb", "bigint");
      await make("other.fgb", "integer");
      const [long, int] = await Promise.all(
        ["unsigned.fgb", "other.fgb"].map((name) => readFile(inBronze(name))),
      );
      // The two headers differ in the type of the column: 7 is an integer of 64 bits, 8 unsigned.
      const at = long!.findIndex((byte, index) => byte === 7 && int![index] === 5);
      long![at] = 8;
      await place("unsigned.fgb", long!);
      const plain = await load(blob);
      expect(counted(plain)).toMatchObject({ INTEGERS_AS_TEXT: 1 });
      expect(await rows("SELECT big, r FROM geo.unsigned ORDER BY r DESC")).toEqual([
        { big: "18446744073709551615", r: 0.1 + 0.2 },
        { big: "5", r: 5e-324 },
      ]);
      expect((await readFile(inBronze("unsigned.fgb")))[at]).toBe(8);
    });

    it("of a dBASE table are its digits", async () => {
      const features = [1, 2, 3].map((id) => point({ id }));
      const blob = await convert("digits.shp", "digits.json", collection(...features));
      const values = [
        ["18446744073709551615", "9007199254740993", "1234567.123456789012", "7"],
        ["-5", "9223372036854775807", "*".repeat(20), "*".repeat(20)],
        ["", "", "1.5e-300", "one"],
      ];
      await place("digits.dbf", dbase(["huge", "long", "fraction:12", "wrong"], values));
      const prepared = await load(blob);
      expect(typesOf(prepared)).toEqual({
        huge: "text",
        long: "bigint",
        fraction: "double precision",
        wrong: "text",
      });
      expect(counted(prepared)).toMatchObject({ INTEGERS_AS_TEXT: 1 });
      expect(
        await rows("SELECT huge, long::text, fraction, wrong FROM geo.digits ORDER BY fid"),
      ).toEqual([
        {
          huge: "18446744073709551615",
          long: "9007199254740993",
          fraction: 1234567.123456789,
          wrong: "7",
        },
        { huge: "-5", long: "9223372036854775807", fraction: null, wrong: null },
        { huge: null, long: null, fraction: 1.5e-300, wrong: "one" },
      ]);
    });

    it("of GeoJSON are told, where fractions are among long integers", async () => {
      const text = collection(
        point({ a: 0.5, b: 1, c: 1, xmin: 1 }),
        point({ a: "LONG", b: "LONG", c: "text", xmin: 2 }),
      );
      const blob = await place("mixed.json", text.replaceAll('"LONG"', "9007199254740993"));
      const prepared = await load(blob);
      expect(counted(prepared)).toMatchObject({ INTEGERS_ROUNDED: 1 });
      expect(await rows("SELECT b::text, c, source_xmin FROM geo.mixed ORDER BY fid")).toEqual([
        { b: "1", c: "1", source_xmin: 1 },
        { b: "9007199254740993", c: "text", source_xmin: 2 },
      ]);
    });

    it.skipIf(engine === "wasm")("of KML are not those of 32 bits", async () => {
      const fields = '<SimpleField name="n" type="int"/><SimpleField name="r" type=\'double\'/>';
      const data =
        '<SimpleData name="n">9999999999</SimpleData><SimpleData name="r">0.30000000000000004</SimpleData>';
      const kml = `<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Schema id="s" name="s">${fields}</Schema><Placemark><ExtendedData><SchemaData schemaUrl="#s">${data}</SchemaData></ExtendedData><Point><coordinates>1,2</coordinates></Point></Placemark></Document></kml>`;
      const prepared = await load(await place("fields.kml", kml));
      expect(typesOf(prepared)).toMatchObject({ n: "bigint", r: "double precision" });
      expect(await rows("SELECT n::text, r FROM geo.fields")).toEqual([
        { n: "9999999999", r: 0.1 + 0.2 },
      ]);
    });

    it.runIf(engine === "wasm")("of KML are told where this GDAL does not read them", async () => {
      const data = '<ExtendedData><Data name="n"><value>7</value></Data></ExtendedData>';
      const placemark = (more: string) =>
        `<Placemark>${more}<Point><coordinates>1,2</coordinates></Point></Placemark>`;
      const kml = `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${placemark(data)}${placemark("")}</Document></kml>`;
      expect(counted(await load(await place("told.kml", kml)))).toEqual({ ATTRIBUTES_UNREAD: 1 });
    });

    it("of XLSX are the moments that openpyxl wrote, with their times", async () => {
      const source = await readFile(fixture("vector/values/times.xlsx"));
      const prepared = await load(await place("times.xlsx", source));
      expect(
        await rows(
          "SELECT (moment AT TIME ZONE 'UTC')::text AS moment, day::text, clock::text, ratio FROM geo.times",
        ),
      ).toEqual([
        { moment: "2024-02-29 13:45:30", day: "2024-03-01", clock: "01:02:03", ratio: 0.25 },
      ]);
      expect(prepared.columns).toContainEqual(
        expect.objectContaining({ name: "moment", type: "timestamptz" }),
      );
    });

    it("of GeoParquet are what pyarrow wrote", async () => {
      const source = await readFile(fixture("vector/values/values.parquet"));
      const prepared = await load(await place("values.parquet", source));
      expect(counted(prepared)).toEqual({ DATES_DROPPED: 1, INTEGERS_AS_TEXT: 3 });
      const stored = await rows(
        "SELECT unsigned, unsigned_small::text, unsigned_32::text, amount, price, serial, number::text, clock::text, at::text, far, real, digits, half, bytes, ids::text FROM geo.values ORDER BY fid",
      );
      expect(stored[0]).toMatchObject({
        unsigned: "18446744073709551615",
        unsigned_small: "7",
        unsigned_32: "4294967295",
        amount: "123456789012345678.9",
        price: 0.3,
        serial: "99999999999999999999",
        number: "123456789012345678",
        clock: "23:59:58.123456",
        at: expect.stringContaining("12:30:15.123456") as string,
        far: null,
        real: Number.NaN,
        digits: 0.1 + 0.2,
        half: 1.5,
        bytes: "\\x00ff",
        ids: "[9007199254740993, 1]",
      });
      expect(stored[1]).toMatchObject({
        unsigned: "5",
        unsigned_small: "9223372036854775807",
        amount: "-0.3",
        price: 1.5,
        serial: null,
        number: "1",
        clock: "01:02:00",
        at: null,
        real: -Infinity,
        digits: 5e-324,
        half: -0.25,
        bytes: "plain",
        ids: "[]",
      });
    });
  });

  it.each<[name: string, given: object, text: string]>([
    [
      "high.csv",
      { geometry_column: "geom", source_crs: "EPSG:4326" },
      'n,geom\n1,"POINT Z (1 2 3)"\n2,"LINESTRING Z (1 2 0,3 4 0)"\n3,POINT(5 6)\n',
    ],
    [
      "high.kml",
      {},
      '<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><Point><coordinates>1,2,3</coordinates></Point></Placemark></kml>',
    ],
    ["high.geojson", {}, collection(point({}, [1, 2, 3]), line)],
  ])("heights of %s are told, where its type does not tell of them", async (name, given, text) => {
    const counts = counted(await load(await place(name, text), given));
    expect(counts).toHaveProperty("DIMENSIONS_REDUCED");
    const flat = text.replace(/\bZ \(1 2 3/, "Z (1 2 0").replace("1,2,3", "1,2");
    const others = counted(await load(await place(name, flat), given));
    expect(others).not.toHaveProperty("DIMENSIONS_REDUCED");
  });

  it("Web Mercator is not taken for units of two degrees", async () => {
    const places = [
      [10, 20],
      [-150.5, -60.25],
    ];
    const text = collection(...places.map((coordinates) => point({ a: 1 }, coordinates)));
    const blob = await convert("mercator.gpkg", "degrees.json", text, "-t_srs", "EPSG:3857");
    const prepared = await load(blob);
    [-150.5, -60.25, 10, 20].forEach((value, index) => {
      expect(prepared.bounds![index]).toBeCloseTo(value, 8);
    });
    expect(prepared.transformations).toEqual({});
    // A circle of 100 km around (1000 km, 0), as PROJ places its ends.
    const csv =
      'id,wkt\n1,"CURVEPOLYGON (CIRCULARSTRING (900000 0,1000000 100000,1100000 0,1000000 -100000,900000 0))"\n';
    const options = ["-oo", "GEOM_POSSIBLE_NAMES=wkt", "-a_srs", "EPSG:3857", "-nlt", "GEOMETRY"];
    const arcs = await convert("arcs.gpkg", "arcs.csv", csv, "-f", "GPKG", ...options);
    const [west, , east] = (await load(arcs)).bounds!;
    expect(west).toBeCloseTo(8.0848375571, 8);
    expect(east).toBeCloseTo(9.8814681253, 8);
  });

  // The first operations need grids. PROJ 9.5 tells these accuracies.
  it.each<[string, [number, number], Record<string, number>]>([
    ["EPSG:27700", [-2, 52.6], { "OSGB36 to WGS 84 (9)": 1, "OSGB36 to WGS 84 (6)": 2 }],
    ["EPSG:31467", [9.2, 50], { "DHDN to WGS 84 (4)": 1, "DHDN to WGS 84 (2)": 3 }],
  ])("records the operation from %s to WGS 84 and what it lacks", async (crs, at, accuracies) => {
    const text = collection(point({ a: 1 }, at));
    const blob = await convert("moved.gpkg", "degrees.json", text, "-t_srs", crs);
    const prepared = await load(blob);
    const used = prepared.transformations["moved"]!;
    expect(Object.keys(accuracies)).toContain(used.operation);
    expect(used.accuracy).toBe(accuracies[used.operation]);
    expect(used.missing_grids.length > 0).toBe(used.operation === Object.keys(accuracies)[1]);
    const isMissing = used.missing_grids.length > 0;
    expect("TRANSFORMATION_GRID_MISSING" in counted(prepared)).toBe(isMissing);
    const { item_id } = (await opened.test.run(createVectorStac, {
      collection_id: "exact",
      tables: ["moved"],
      transformations: prepared.transformations,
    })) as { item_id: string };
    const item = await findItem(database.db, seesAll, "exact", item_id);
    expect(item!.properties["rmhdag:transformation"]).toMatchObject({
      operation: used.operation,
      accuracy: used.accuracy,
    });
  });
});

/** A table of numbers, 20 digits wide; `name:12` has 12 behind the point. */
function dbase(fields: readonly string[], values: readonly (readonly string[])[]): Buffer {
  const width = 20;
  const header = Buffer.alloc(32 + 32 * fields.length + 1, 0);
  header.set([3, 124, 1, 1], 0);
  header.writeUInt32LE(values.length, 4);
  header.writeUInt16LE(header.length, 8);
  header.writeUInt16LE(1 + width * fields.length, 10);
  fields.forEach((field, index) => {
    const [name = "", decimals = "0"] = field.split(":");
    const at = 32 + 32 * index;
    header.write(name, at, "latin1");
    header.write("N", at + 11, "latin1");
    header.set([width, Number(decimals)], at + 16);
  });
  header[header.length - 1] = 0x0d;
  const lines = values.map((row) => ` ${row.map((value) => value.padStart(width)).join("")}`);
  return Buffer.concat([header, Buffer.from(`${lines.join("")}\u001a`, "latin1")]);
}
