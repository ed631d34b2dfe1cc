/**
 * Attacks in formats that name other places in ways of their own, that unpack to more than they are,
 * or that lie about their sizes. As in attack-files.ts, nothing of the canary may appear anywhere.
 */
import { readFileSync } from "node:fs";
import type { Attack, Canary } from "./attack-files.ts";
import { fixture } from "./fixtures.ts";
import { packAsZstd, writeParquet } from "./parquet-file.ts";
import { packZip } from "./zip.ts";

const reference = "EXTERNAL_REFERENCE";
const mebibyte = 1024 * 1024;

/** Grids of NetCDF, HDF5, GRIB and Zarr, and JPEG 2000. One workflow is enough for each. */
export function gridAttacks({ file, url }: Canary): Attack[] {
  const kerchunk = JSON.stringify({
    version: 1,
    refs: { ".zgroup": '{"zarr_format":2}', "a/0.0": [`file://${file}`, 0, 100] },
  });
  const attacks: Attack[] = [
    {
      name: "jp2_gml_link",
      files: { "a.jp2": jp2WithXml(gml(`<a xlink:href="file://${file}"/>`)) },
      code: reference,
    },
    {
      name: "jp2_gml_schema",
      files: { "a.jp2": jp2WithXml(`<a xlink:href="${url}/schema.gml"/>`) },
      code: reference,
    },
    // Kerchunk: a Zarr whose chunks are ranges of other files.
    { name: "kerchunk", files: { "a.json": kerchunk }, code: "INVALID_FORMAT" },
    {
      name: "kerchunk_in_zarr",
      files: { "a.zarr.zip": zarr({ "refs.json": kerchunk, "a/0.0": "x" }) },
      code: "FILE_CORRUPTED",
    },
    {
      name: "zarr_link",
      files: {
        "a.zarr.zip": packZip(
          { name: ".zgroup", content: Buffer.from('{"zarr_format":2}') },
          { name: "a/0.0", content: Buffer.from(file), mode: 0o120777 },
        ),
      },
      code: "ZIP_BAD_NAME",
    },
    {
      name: "zarr_huge",
      files: { "a.zarr.zip": zarr({ "a/0.0": "x" }, 2 ** 31 - 1) },
      code: "FILE_CORRUPTED",
    },
    {
      name: "zarr_bomb",
      files: { "a.zarr.zip": zarr({ "a/0.0": Buffer.alloc(8 * mebibyte) }) },
      code: "ZIP_BOMB",
    },
    // The library looks for the beginning of HDF5 behind a block of the user's own.
    {
      name: "hdf5_behind_block",
      files: {
        "a.h5": Buffer.concat([
          Buffer.alloc(512),
          readFileSync(fixture("attacks/refers_by_link.h5")),
        ]),
      },
      code: "INVALID_FORMAT",
    },
    {
      name: "netcdf_huge",
      files: { "a.nc": hugeNetCdf() },
      code: "FILE_CORRUPTED",
      codeInWasm: "FORMAT_NOT_SUPPORTED",
    },
    {
      name: "grib_lies",
      files: {
        "a.grb2": Buffer.from(
          `47524942ffff0002${"7f".repeat(8)}7fffffff01${"00".repeat(64)}`,
          "hex",
        ),
      },
      code: "FILE_CORRUPTED",
    },
  ];
  return attacks.map((attack) => ({ ...attack, isDisguise: true }));
}

/** Documents and tables: GML, GPX, KMZ, TopoJSON, DXF, XLSX, geodatabases, Parquet. */
export function documentAttacks({ file, url }: Canary): Attack[] {
  const laughs = `<!DOCTYPE a [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, n) => `<!ENTITY a${n} "${`&a${n === 0 ? "" : n - 1};`.repeat(10)}">`).join("")}]>`;
  const external = `<!DOCTYPE gpx [<!ENTITY x SYSTEM "file://${file}">]>`;
  const link = `{"type":"link","properties":{"href":"${url}/crs","type":"proj4"}}`;
  const topology = `{"type":"Topology","crs":${link},"objects":{"a":{"type":"Point","coordinates":[1,2]}},"arcs":[]}`;
  return [
    {
      name: "gml_schema_file",
      files: { "a.gml": gml("", `http://x file://${file}`) },
      code: reference,
    },
    {
      name: "gml_schema_path",
      files: { "a.gml": gml("", `${"http://x http://y ".repeat(40)} ../../..${file}`) },
      code: reference,
    },
    {
      name: "gml_link_file",
      files: { "a.gml": gml(`<a xlink:href="${file}"/>`) },
      code: reference,
    },
    {
      // Honest files name schemas and lists of codes on the web: these are never fetched.
      name: "gml_addresses",
      files: { "a.gml": gml(`<a xlink:href="${url}/code#a"/>`, `http://x ${url}/schema.xsd`) },
      code: undefined,
    },
    { name: "gml_entities", files: { "a.gml": laughs + gml("&a8;") }, code: reference },
    {
      name: "gpx_entity",
      files: {
        "a.gpx": `${external}<gpx version="1.1" creator="a" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="1" lon="2"><name>&x;</name></wpt></gpx>`,
      },
      code: reference,
    },
    {
      name: "kml_remote_style",
      files: {
        "a.kml": `<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><styleUrl>${url}/style.kml#a</styleUrl><Point><coordinates>1,2</coordinates></Point></Placemark></Document></kml>`,
      },
      code: undefined,
    },
    {
      name: "kmz_link",
      files: { "a.kmz": packZip({ name: "doc.kml", content: Buffer.from(file), mode: 0o120777 }) },
      code: "ZIP_BAD_NAME",
    },
    {
      name: "kmz_bomb",
      files: { "a.kmz": packZip({ name: "doc.kml", content: Buffer.alloc(8 * mebibyte, " ") }) },
      code: "ZIP_BOMB",
    },
    { name: "topojson_crs_link", files: { "a.topojson": topology }, code: reference },
    { name: "dxf_outside_block", files: { "a.dxf": dxfWithReference(file) }, code: undefined },
    {
      name: "xlsx_entity_elsewhere",
      files: { "a.xlsx": xlsx({ sheet: "data.bin", before: external, value: "&x;" }) },
      code: reference,
    },
    {
      name: "xlsx_entities_utf16",
      files: { "a.xlsx": xlsx({ sheet: "sheet1.xml", before: laughs, value: "&a8;", wide: true }) },
      code: reference,
    },
    {
      name: "xlsx_other_book",
      files: {
        "a.xlsx": xlsx({
          sheet: "sheet1.xml",
          value: "a",
          more: {
            "xl/externalLinks/_rels/externalLink1.xml.rels": `<Relationships><Relationship Id="rId1" Target="file://${file}" TargetMode="External"/></Relationships>`,
          },
        }),
      },
      code: undefined,
    },
    {
      name: "xlsx_bomb",
      files: {
        "a.xlsx": xlsx({ sheet: "sheet1.xml", value: " ".repeat(8 * mebibyte) }),
      },
      code: "ZIP_BOMB",
    },
    {
      name: "geodatabase_link",
      files: {
        "a.zip": packZip({
          name: "a.gdb/a00000001.gdbtable",
          content: Buffer.from(file),
          mode: 0o120777,
        }),
      },
      code: "ZIP_BAD_NAME",
    },
    {
      name: "geodatabase_of_nothing",
      files: {
        "a.zip": packZip(
          { name: "a.gdb/a00000001.gdbtable", content: Buffer.alloc(200, 0x7f) },
          { name: "a.gdb/a00000001.gdbtablx", content: Buffer.alloc(200, 0x7f) },
        ),
      },
      code: "FILE_UNREADABLE",
    },
    {
      name: "parquet_elsewhere",
      files: { "a.parquet": writeParquet({ rows: 3, columnFile: file }) },
      code: reference,
    },
    {
      name: "parquet_of_rows",
      files: { "a.parquet": writeParquet({ rows: 300_000_000 }) },
      code: "FORMAT_NOT_SUPPORTED",
    },
    {
      name: "parquet_of_a_page",
      files: {
        "a.parquet": writeParquet({
          rows: 3,
          pack: (page) => packAsZstd(page, 2 ** 31 - 1),
          claims: { page: 2 ** 31 - 1 },
        }),
      },
      code: "FORMAT_NOT_SUPPORTED",
    },
    {
      name: "parquet_of_negative_bytes",
      files: { "a.parquet": writeParquet({ rows: 3, claims: { column: -1 } }) },
      code: "FILE_UNREADABLE",
    },
    {
      name: "flatgeobuf_lies",
      files: { "a.fgb": Buffer.from(`6667620366676200ffffff7f${"00".repeat(64)}`, "hex") },
      code: "NO_GEOMETRY",
    },
    { name: "layer_file", files: { "a.lyr": `${file}\n` }, code: "UNSUPPORTED_FORMAT" },
  ];
}

function gml(inside: string, schemaLocation?: string): string {
  const schema =
    schemaLocation === undefined ? "" : ` xsi:schemaLocation="http://x/ ${schemaLocation}"`;
  return `<c:Places xmlns:c="http://x/" xmlns:gml="http://www.opengis.net/gml" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"${schema}><gml:featureMember><c:place fid="a"><c:name>${inside}</c:name><c:at><gml:Point srsName="EPSG:4326"><gml:coordinates>1,2</gml:coordinates></gml:Point></c:at></c:place></gml:featureMember></c:Places>`;
}

function jp2WithXml(xml: string): Buffer {
  const box = (type: string, content: Buffer): Buffer => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(8 + content.length, 0);
    head.write(type, 4, "latin1");
    return Buffer.concat([head, content]);
  };
  const label = box("lbl ", Buffer.from("gml.data"));
  return Buffer.concat([
    box("jP  ", Buffer.from([0x0d, 0x0a, 0x87, 0x0a])),
    box("ftyp", Buffer.from("jpx \0\0\0\0jp2 ", "latin1")),
    box("asoc", Buffer.concat([label, box("asoc", box("xml ", Buffer.from(xml)))])),
  ]);
}

function zarr(files: Readonly<Record<string, string | Buffer>>, size = 10): Buffer {
  const array = {
    zarr_format: 2,
    shape: [size, size],
    chunks: [size, size],
    dtype: "<f8",
    order: "C",
    compressor: { id: "zlib", level: 1 },
    filters: null,
    fill_value: 0,
  };
  const all = {
    ".zgroup": '{"zarr_format":2}',
    "a/.zarray": JSON.stringify(array),
    "a/.zattrs": '{"_ARRAY_DIMENSIONS":["y","x"]}',
    ...files,
  };
  return packZip(
    ...Object.entries(all).map(([name, content]) => ({ name, content: Buffer.from(content) })),
  );
}

/** NetCDF 3 with a variable of 2³¹ by 2³¹ numbers. */
function hugeNetCdf(): Buffer {
  const int = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length);
    values.forEach((value, index) => bytes.writeUInt32BE(value, 4 * index));
    return bytes;
  };
  const name = (letter: string) => Buffer.concat([int(1), Buffer.from(`${letter}\0\0\0`)]);
  const large = 0x7fff_fff0;
  return Buffer.concat([
    ...[Buffer.from("CDF\u0001"), int(0), int(10, 2), name("y"), int(large), name("x"), int(large)],
    ...[int(0, 0), int(11, 1), name("a"), int(2, 0, 1), int(0, 0), int(5, 0xffff_ffff, 128)],
  ]);
}

/** A drawing with a point, and a block whose content is another drawing. */
function dxfWithReference(file: string): string {
  const block = ["0", "BLOCK", "2", "other", "70", "4", "1", file, "0", "ENDBLK"];
  const point = ["0", "POINT", "8", "0", "10", "1.0", "20", "2.0"];
  return [
    ...["0", "SECTION", "2", "HEADER", "9", "$ACADVER", "1", "AC1015", "0", "ENDSEC"],
    ...["0", "SECTION", "2", "BLOCKS", ...block, "0", "ENDSEC"],
    ...["0", "SECTION", "2", "ENTITIES", ...point, "0", "INSERT", "2", "other"],
    ...["10", "1.0", "20", "2.0", "0", "ENDSEC", "0", "EOF", ""],
  ].join("\n");
}

/** A spreadsheet with one point, whose sheet has any name, begins with anything and may be UTF-16. */
function xlsx(spec: {
  readonly sheet: string;
  readonly value: string;
  readonly before?: string;
  readonly wide?: boolean;
  readonly more?: Readonly<Record<string, string>>;
}): Buffer {
  const { sheet, value, before = "", wide = false, more = {} } = spec;
  const office = "http://schemas.openxmlformats.org";
  const row = (number: number, ...cells: string[]) =>
    `<row r="${number}">${cells.map((cell, at) => `<c r="${"ABC"[at] ?? ""}${number}" t="inlineStr"><is><t>${cell}</t></is></c>`).join("")}</row>`;
  const rows = row(1, "lon", "lat", "name") + row(2, "1", "2", value);
  const text = `${before}<worksheet xmlns="${office}/spreadsheetml/2006/main"><sheetData>${rows}</sheetData></worksheet>`;
  const part = (name: string, type: string) =>
    `<Override PartName="/xl/${name}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`;
  const parts: Record<string, string | Buffer> = {
    "[Content_Types].xml": `<Types xmlns="${office}/package/2006/content-types">${part(`worksheets/${sheet}`, "worksheet")}${part("workbook.xml", "sheet.main")}</Types>`,
    "xl/workbook.xml": `<workbook xmlns="${office}/spreadsheetml/2006/main" xmlns:r="${office}/officeDocument/2006/relationships"><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="rId1" Type="${office}/officeDocument/2006/relationships/worksheet" Target="worksheets/${sheet}"/></Relationships>`,
    [`xl/worksheets/${sheet}`]: wide ? Buffer.from(`\ufeff${text}`, "utf16le") : text,
    ...more,
  };
  return packZip(
    ...Object.entries(parts).map(([name, content]) => ({ name, content: Buffer.from(content) })),
  );
}
