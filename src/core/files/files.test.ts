import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { detectContent, rasterDriverOf } from "./detect-content.ts";
import { judgeMetadata } from "./judge-metadata.ts";
import { judgeSchema } from "./judge-schema.ts";
import { judgeSidecar, readWorldFile } from "./judge-sidecar.ts";
import { Editor } from "./edit.ts";
import { JsonScanner } from "./scan-json.ts";
import { XmlScanner } from "./scan-xml.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("content", () => {
  it.each([
    ["II*\0", "GeoTIFF"],
    ["MM\0+", "GeoTIFF"],
    ["CDF\u0001", "NetCDF"],
    ["GRIB", "GRIB"],
    ["SQLite format 3\0", "SQLite"],
    ["fgb\u0003fgb", "FlatGeobuf"],
    ["PAR1", "Parquet"],
    ["\ufeff<?xml version='1.0'?><!-- <kml> --><VRTDataset>", "a virtual raster (VRT)"],
    ["<OGRVRTDataSource/>", "a virtual layer (OGR VRT)"],
    ["<gml:FeatureCollection>", "GML"],
    ['<!DOCTYPE kml [<!ENTITY x SYSTEM "file:///x">]><kml>', "KML"],
    ["<x:thing/>", "XML with the root element <thing>"],
    ["\u001e{}", "JSON"],
    ["a,b\n1,2", "plain text"],
    ["\0\u0001\u0002", "binary data of no known format"],
  ])("%j is %s", (start, name) => {
    expect(detectContent(bytes(start))).toMatchObject({ name });
  });

  it("is opened with one driver, or with none", () => {
    expect(rasterDriverOf(detectContent(bytes("II*\0")))).toBe("GTiff");
    expect(rasterDriverOf(detectContent(bytes("CDF\u0001")))).toBe("netCDF");
    expect(rasterDriverOf(detectContent(bytes("%PDF-1.4")))).toBeUndefined();
    expect(rasterDriverOf(detectContent(bytes("fgb")))).toBeUndefined();
    expect(rasterDriverOf(detectContent(bytes("<VRTDataset/>")))).toBeUndefined();
  });
});

describe("metadata", () => {
  it.each([
    `<Item name="OVERVIEW_FILE" domain="OVERVIEWS">a.tif</Item>`,
    `<Item name="overview_file">a.tif</Item>`,
    `<Item name="&#79;VERVIEW_FILE">a.tif</Item>`,
    `<Item name="&amp;#x4f;VERVIEW_FILE">a.tif</Item>`,
    `<Item name='x' domain = 'overviews'>1</Item>`,
    `<Item name="X_DATASET" domain="GEOLOCATION">a</Item>`,
    `<Item name="x">&lt;VRTDataset&gt;</Item>`,
    `<Item name="x">&amp;lt;VRTDataset&amp;gt;</Item>`,
    `<Item name="x">/vsicurl/http://h</Item>`,
  ])("%s leads out of the file", (text) => {
    expect(judgeMetadata("It", text)?.code).toBe("EXTERNAL_REFERENCE");
  });

  it.each([
    `<Item name="STATISTICS_MEAN" sample="0">1.5</Item>`,
    `<Item name="SOURCE">https://data.example.org/overviews</Item>`,
    `<Item name="TIFFTAG_SOFTWARE">a/b &lt; c</Item>`,
  ])("%s does not", (text) => {
    expect(judgeMetadata("It", text)).toBeUndefined();
  });
});

describe("a schema", () => {
  const table = { name: "t", sql: 'CREATE TABLE "t" (fid INTEGER PRIMARY KEY, geom BLOB)' };
  it.each([
    ["v", "CREATE VIRTUAL TABLE v USING VirtualText('/etc/passwd')"],
    ["rtree_t_geom", "CREATE VIRTUAL TABLE rtree_t_geom USING VirtualShape('/etc/x')"],
    ["v", "create/**/virtual -- \n table v using rtree(id,a,b)"],
    ["v", "CREATE VIEW v AS SELECT BlobFromFile('/etc/passwd') FROM t"],
    ["v", "CREATE VIEW v AS SELECT \"readfile\"('/etc/passwd') FROM t"],
    ["v", "CREATE VIEW v AS SELECT * FROM pragma_database_list"],
    ["v", "CREATE VIEW v AS SELECT * FROM t, dbstat"],
    ["v", "CREATE VIEW v AS SELECT * FROM elsewhere"],
    [
      "rtree_t_geom_insert",
      "CREATE TRIGGER rtree_t_geom_insert AFTER INSERT ON t BEGIN SELECT x(1); END",
    ],
    ["mine", "CREATE TRIGGER mine AFTER INSERT ON t BEGIN DELETE FROM t; END"],
    ["t", "CREATE TABLE t (a TEXT GENERATED ALWAYS AS (x()) VIRTUAL)"],
    ["t", "CREATE TABLE t (a TEXT AS (x()))"],
    ["t", "ATTACH 'x' AS y"],
    ["t", "CREATE TEMP TABLE t (a)"],
  ])("with %s is refused: %s", (name, sql) => {
    expect(judgeSchema([table, { name, sql }])?.code).toBe("ACTIVE_CONTENT");
  });

  it.each([
    ["i", "CREATE UNIQUE INDEX i ON t (fid)"],
    ["v", 'CREATE VIEW v AS SELECT fid, geom AS "g", UPPER(name) FROM "t" WHERE fid IN (1, 2)'],
    ["rtree_t_geom", 'CREATE VIRTUAL TABLE "rtree_t_geom" USING rtree(id, minx, maxx, miny, maxy)'],
    [
      "rtree_t_geom_update2",
      `CREATE TRIGGER "rtree_t_geom_update2" AFTER UPDATE ON "t" WHEN OLD."fid" = NEW."fid" AND (NEW."geom" ISNULL OR ST_IsEmpty(NEW."geom")) BEGIN DELETE FROM "rtree_t_geom" WHERE id = OLD."fid"; END`,
    ],
    ["t2", "CREATE TABLE t2 (a TEXT DEFAULT 'AS (x)', b CHECK (length(b) < 3))"],
  ])("with %s is taken", (name, sql) => {
    expect(judgeSchema([table, { name, sql }])).toBeUndefined();
  });
});

describe("JSON", () => {
  const scan = (...parts: Uint8Array[]) => {
    const scanner = new JsonScanner();
    for (const part of parts) scanner.push(part);
    return scanner.end();
  };
  const link = '{"type":"link","properties":{"href":"http://h"}}';

  it.each([
    `{"crs":${link}}`,
    `{"CRS" : ${link}}`,
    String.raw`{"\u0063\u0072\u0073":` + `${link}}`,
    `{"a":[{"geometry":{"crs":${link}}}]}`,
    `{"crs":{"Type":"URL"}}`,
    `{"a":"\\"crs","crs":${link}}`,
  ])("%s has a CRS that GDAL would fetch, however it is cut", (text) => {
    const whole = bytes(text);
    for (let cut = 0; cut <= whole.length; cut++) {
      const { problem } = scan(whole.subarray(0, cut), whole.subarray(cut));
      expect(problem?.code).toBe("EXTERNAL_REFERENCE");
    }
  });

  it.each([
    '{"crs":{"type":"name","properties":{"name":"EPSG:4326"}}}',
    '{"crs":null}',
    '{"properties":{"crs":"link","text":"\\"crs\\":{\\"type\\":\\"link\\"}"}}',
  ])("%s has none", (text) => {
    expect(scan(bytes(text))).toMatchObject({ documents: 1, isJson: true, problem: undefined });
  });

  it.each([
    ["größe", "größe"],
    [String.raw`gr\u00f6\u00dfe \"x\"`, 'größe "x"'],
    ["é".repeat(200), "é".repeat(128)],
    [`a${"é".repeat(200)}`, `a${"é".repeat(127)}\ufffd`],
  ])("names the member %s that has a long integer", (name, found) => {
    const { longKeys, hugeKeys } = scan(
      bytes(`{"${name}":[9007199254740993,99999999999999999999]}`),
    );
    expect([[...longKeys], [...hugeKeys]]).toEqual([[found], [found]]);
  });

  it("keeps integers of more than 64 bits and texts with NUL, in pieces of any size", () => {
    const text =
      '{"type":"Topology","a":18446744073709551615,"b":[9223372036854775808,-9223372036854775808],"c":"x\\u0000y\\\\u0000","d":1e30}';
    const kept =
      '{"type":"Topology","a":"18446744073709551615","b":["9223372036854775808",-9223372036854775808],"c":"x\\ufffdy\\\\u0000","d":1e30}';
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (size) => {
        const pieces = [...text.matchAll(new RegExp(`.{1,${size}}`, "g"))].map(([piece]) => piece);
        const scanner = new JsonScanner();
        for (const piece of pieces) scanner.push(bytes(piece));
        const { edits, nulCharacters, hugeIntegers, type } = scanner.end();
        expect({ nulCharacters, hugeIntegers, type }).toEqual({
          nulCharacters: 1,
          hugeIntegers: 2,
          type: "Topology",
        });
        const editor = new Editor(edits);
        const changed = pieces.flatMap((piece) => editor.push(bytes(piece)));
        expect(Buffer.concat(changed).toString()).toBe(kept);
      }),
    );
  });

  it.each([
    ['{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2,3]}}', true],
    [
      '{"features":[{"geometry":{"coordinates":[1,2]}},{"geometry":{"coordinates":[1,2,3]}}]}',
      true,
    ],
    ['{"features":[{"properties":{"coordinates":[1,2,3]},"geometry":null}],"bbox":[1,2,3]}', false],
    ['{"geometry":{"geometries":[{"coordinates":[[1,2],[3, 4.5, -1e3]]}]}}', true],
    ['{"type":"Point","Coordinates":[1,2,3]}', true],
    ['{"geometry":{"bbox":[1,2,3,4],"coordinates":[[[1,2],[3,4],[5,6]]]}}', false],
    ['{"geometry":null,"properties":{"coordinates":[1,2,3]}}', false],
    ['{"geometry":{"coordinates":[[1,2],[3,4]]},"properties":{"a":[1,2,3]},"id":12}', false],
  ])("%s: whether a position has a height, however it is cut", (text, hasHeights) => {
    const whole = bytes(text);
    for (let cut = 0; cut <= whole.length; cut++) {
      expect(scan(whole.subarray(0, cut), whole.subarray(cut))).toMatchObject({ hasHeights });
    }
  });

  it("counts documents, and takes every JSON that JSON.stringify writes", () => {
    expect(scan(bytes('{"a":1}\n\u001e{"a":NaN}')).documents).toBe(2);
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(scan(bytes(`{"x":${text}}`)).isJson).toBe(true);
      }),
    );
    for (const odd of ["{'crs':1}", '{/* */"a":1}', "{#}", '{"a":1}}']) {
      expect(scan(bytes(odd)).isJson).toBe(false);
    }
  });
});

it("XML is searched across its pieces", () => {
  const scan = (text: string) => {
    const scanner = new XmlScanner();
    for (let at = 0; at < text.length; at += 7) scanner.push(bytes(text.slice(at, at + 7)));
    return scanner.end()?.code;
  };
  expect(scan("<kml><Document><NetworkLink><href/></NetworkLink></Document></kml>")).toBe(
    "EXTERNAL_REFERENCE",
  );
  expect(scan('<!DOCTYPE kml SYSTEM "http://h"><kml/>')).toBe("EXTERNAL_REFERENCE");
  expect(
    scan("<kml><Style><Icon><href>http://h/pin.png</href></Icon></Style></kml>"),
  ).toBeUndefined();
  const gml = (schemas: string, link = "#a") =>
    scan(`<a xsi:schemaLocation="http://x ${schemas}"><b xlink:href="${link}"/></a>`);
  expect(gml("http://x/a.xsd", "http://x/codes#a")).toBeUndefined();
  expect(gml("a.xsd")).toBeUndefined();
  for (const place of ["file:///etc/a", "/etc/a.xsd", "../a.xsd", "C:\\a.xsd"]) {
    expect([place, gml(`http://y ${place}`)]).toEqual([place, "EXTERNAL_REFERENCE"]);
    expect([place, gml("a.xsd", place)]).toEqual([place, "EXTERNAL_REFERENCE"]);
  }
  const wide = new XmlScanner();
  wide.push(Buffer.from("\ufeff<!DOCTYPE a><a/>", "utf16le"));
  expect(wide.end()?.message).toContain("UTF-16");
  const scanner = new XmlScanner();
  scanner.push(bytes('<?xml version="1.0" encoding="UTF-7"?><kml/>'));
  expect(scanner.end()?.message).toContain("UTF-7");
});

it("sidecars are what their extensions say", () => {
  const code = (ending: string, content: string) => judgeSidecar(ending, bytes(content))?.code;
  expect(code(".prj", 'GEOGCS["x",EXTENSION["PROJ4","+nadgrids=@null"]]')).toBeUndefined();
  expect(code(".prj", 'GEOGCS["x",EXTENSION["PROJ4","+nadgrids=/etc/x"]]')).toBe("SIDECAR_INVALID");
  const second = 'GEOGCS["x",EXTENSION["PROJ4","+nadgrids=@null +geoidgrids=/etc/x"]]';
  expect(code(".prj", second)).toBe("SIDECAR_INVALID");
  expect(code(".prj", "<VRTDataset/>")).toBe("SIDECAR_INVALID");
  expect(code(".cpg", "ISO-8859-1\r\n")).toBeUndefined();
  expect(code(".cpg", "../../x")).toBe("SIDECAR_INVALID");
  expect(code(".dbf", "\u0003")).toBeUndefined();
  expect(code(".shx", "text")).toBe("SIDECAR_INVALID");
  expect(readWorldFile("0.5\n0\n0\n-0,5\n100\n200\n")).toEqual([0.5, 0, 0, -0.5, 100, 200]);
  for (const wrong of ["", "1 2 3 4 5", "1 2 3 4 5 /etc/passwd", "1 2 3 4 5 NaN"]) {
    expect(readWorldFile(wrong)).toBeUndefined();
  }
});

describe("a file that is made to be slow to check", () => {
  const size = 256 * 1024;
  const seconds = (check: () => unknown): number => {
    const start = performance.now();
    check();
    return (performance.now() - start) / 1000;
  };

  it.each(["<include ", "<?xml ", "<a:", "<!", "<NetworkLin", 'schemaLocation="', "xlink:href "])(
    "XML of %s",
    (text) => {
      const bytes = Buffer.from(`<kml>${text.repeat(size / text.length)}`);
      expect(
        seconds(() => {
          const scanner = new XmlScanner();
          scanner.push(bytes);
          scanner.end();
        }),
      ).toBeLessThan(5);
    },
  );

  it.each(["domain=", 'domain ="', "<", "&#x", "OVERVIEW"])("metadata of %s", (text) => {
    const blanks = `${text}${" ".repeat(size)}`;
    const many = text.repeat(size / text.length);
    expect(seconds(() => judgeMetadata("It", blanks + many))).toBeLessThan(5);
  });

  it.each(["'", "'a", '"b', "/*", "/* *", "[", "--", "as (", "`c", "''a"])(
    "a schema of %s",
    (text) => {
      const sql = `CREATE VIEW v AS SELECT ${text.repeat(size / text.length)}`;
      const judge = () => judgeSchema([{ name: "v", sql }]);
      expect(seconds(judge)).toBeLessThan(5);
      expect(seconds(() => judgeSchema([{ name: "v", sql: `${sql}'"` }]))).toBeLessThan(5);
    },
  );

  it("is found all the same: blanks around what it names", () => {
    const item = `<Item name="x" domain${" ".repeat(900)}=\n\t"OVERVIEWS">`;
    expect(judgeMetadata("It", item)?.code).toBe("EXTERNAL_REFERENCE");
  });
});
