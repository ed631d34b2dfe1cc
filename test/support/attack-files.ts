/**
 * Files that try to make GDAL read what is not theirs. `canary` names a file and an address that no
 * program may read: their bytes must not appear anywhere.
 */
import { readFileSync } from "node:fs";
import { fixture } from "./fixtures.ts";
import { writeTiff } from "./tiff.ts";
import type { TiffSpec } from "./tiff.ts";
import { geoPackagePoint, writeGeoPackage } from "./sqlite-file.ts";
import type { SqliteTable } from "./sqlite-file.ts";
import { packZip } from "./zip.ts";

export interface Canary {
  readonly file: string;
  /** Such as `http://127.0.0.1:4711`. */
  readonly url: string;
}

export interface Attack {
  readonly name: string;
  /** The submitted file first, then the files beside it. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** The code of the refusal; undefined: it is taken, without what it names. */
  readonly code: string | undefined;
  /** The code where GDAL as WebAssembly does not read the format. */
  readonly codeInWasm?: string;
  /** True: another attack in a new disguise, for which one workflow is enough. */
  readonly isDisguise?: boolean;
}

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** A raster of 600 pixels square, whose COG has overviews, with GDAL's metadata as given. */
export function plainTiff(metadata?: string, spec: Partial<TiffSpec> = {}): Uint8Array {
  const [width, height] = [600, 600];
  return writeTiff({
    images: [{ width, height, block: 512, bands: [new Uint8Array(width * height).fill(7)] }],
    epsg: 4326,
    origin: [10, 50],
    pixel: [0.01, 0.01],
    ...(metadata === undefined ? {} : { metadata }),
    ...spec,
  });
}

/** Puts the list of directories below the first one at a place that the file does not have. */
function withLostDirectories(tiff: Uint8Array): Uint8Array {
  const field = Buffer.from([0x4a, 0x01, 4, 0, 2, 0, 0, 0]);
  const bytes = Buffer.from(tiff);
  bytes.writeUInt32LE(0x7fff_fff0, bytes.indexOf(field) + field.length);
  return bytes;
}

/** A virtual raster whose pixels are the bytes of any file. */
export function rawVrt(file: string, size = 300): string {
  return `<VRTDataset rasterXSize="${size}" rasterYSize="${size}"><VRTRasterBand dataType="Byte" band="1" subClass="VRTRawRasterBand"><SourceFilename relativeToVRT="0">${file}</SourceFilename><ImageOffset>0</ImageOffset><PixelOffset>1</PixelOffset><LineOffset>${size}</LineOffset></VRTRasterBand></VRTDataset>`;
}

const item = (name: string, domain: string, value: string): string =>
  `<GDALMetadata><Item name="${name}" domain="${domain}">${escape(value)}</Item></GDALMetadata>`;

export function rasterAttacks({ file, url }: Canary): Attack[] {
  const overview = (value: string) => plainTiff(item("OVERVIEW_FILE", "OVERVIEWS", value));
  const reference = "EXTERNAL_REFERENCE";
  const encoded = Array.from("OVERVIEW_FILE", (letter) => `&#${letter.charCodeAt(0)};`).join("");
  return [
    { name: "overview_inline_vrt", files: { "a.tif": overview(rawVrt(file)) }, code: reference },
    {
      name: "overview_streamed",
      files: { "a.tif": overview(rawVrt(`/vsicurl_streaming/${url}/overview`)) },
      code: reference,
    },
    { name: "hdf5_stored_elsewhere", files: { "a.h5": externalHdf5({ file }) }, code: reference },
    ...["refers_by_link.h5", "refers_by_virtual.h5"].map((name) => ({
      name: `hdf5_${name}`,
      files: { "a.nc": readFileSync(fixture(`attacks/${name}`)) },
      code: reference,
      isDisguise: true,
    })),
    {
      name: "overview_netcdf",
      files: { "a.tif": overview(`NETCDF:"${url}/netcdf.nc":band`) },
      code: reference,
    },
    {
      name: "overview_in_entities",
      files: {
        "a.tif": plainTiff(
          `<GDALMetadata><Item name="${encoded}" domain="&#79;VERVIEWS">${escape(rawVrt(file))}</Item></GDALMetadata>`,
        ),
      },
      code: reference,
      isDisguise: true,
    },
    ...([3, 4] as const).map((metadataType) => ({
      name: `overview_in_numbers_${metadataType}`,
      files: {
        "a.tif": plainTiff(item("OVERVIEW_FILE", "OVERVIEWS", rawVrt(file)), { metadataType }),
      },
      code: reference,
      isDisguise: true,
    })),
    {
      name: "overview_after_lost_directories",
      files: {
        "a.tif": withLostDirectories(
          plainTiff(item("OVERVIEW_FILE", "OVERVIEWS", rawVrt(file)), { subDirectories: [0, 0] }),
        ),
      },
      code: reference,
      isDisguise: true,
    },
    {
      name: "overview_in_overflowing_numbers",
      files: {
        "a.tif": plainTiff(
          `<GDALMetadata><Item name="&#x10000004F;VERVIEW_FILE" domain="&#4294967375;VERVIEWS">${escape(file)}</Item></GDALMetadata>`,
        ),
      },
      code: reference,
      isDisguise: true,
    },
    {
      name: "geolocation",
      files: { "a.tif": plainTiff(item("X_DATASET", "GEOLOCATION", rawVrt(file))) },
      code: reference,
    },
    {
      name: "subdataset",
      files: { "a.tif": plainTiff(item("SUBDATASET_1_NAME", "SUBDATASETS", file)) },
      code: reference,
    },
    { name: "vrt_as_tif", files: { "a.tif": rawVrt(file, 600) }, code: "INVALID_FORMAT" },
    {
      name: "web_map_as_tif",
      files: {
        "a.tif": `<GDAL_WMS><Service name="TMS"><ServerUrl>${url}/tile</ServerUrl></Service></GDAL_WMS>`,
      },
      code: "INVALID_FORMAT",
    },
    { name: "pdf_as_tif", files: { "a.tif": "%PDF-1.4\n" }, code: "INVALID_FORMAT" },
    { name: "imagine_external", files: { "a.img": imagineFile(file) }, code: reference },
    ...(["whole", "short", "long"] as const).map((box) => ({
      name: `jp2_metadata_${box}`,
      files: { "a.jp2": jp2File(rawVrt(file), box) },
      code: reference,
      isDisguise: box !== "whole",
    })),
    {
      name: "world_file",
      files: { "a.tif": plainTiff(), "a.tfw": `${file}\n` },
      code: "SIDECAR_INVALID",
    },
    {
      name: "sidecars",
      files: {
        "a.tif": plainTiff(),
        "a.tif.ovr": rawVrt(file),
        "a.tif.msk": rawVrt(file, 600),
        "a.tif.aux.xml": `<PAMDataset><Metadata domain="OVERVIEWS"><MDI key="OVERVIEW_FILE">${escape(rawVrt(file))}</MDI></Metadata></PAMDataset>`,
      },
      code: undefined,
    },
  ];
}

/** An Erdas Imagine file whose tree says that its pixels are in another file. */
function imagineFile(file: string): Buffer {
  const bytes = Buffer.alloc(1024);
  bytes.write("EHFA_HEADER_TAG\0", 0, "latin1");
  bytes.writeUInt32LE(20, 16);
  bytes.writeUInt32LE(1, 20);
  bytes.writeUInt32LE(64, 28);
  const node = (at: number, child: number, name: string, type: string) => {
    bytes.writeUInt32LE(child, at + 12);
    bytes.write(name, at + 24, "latin1");
    bytes.write(type, at + 88, "latin1");
  };
  node(64, 192, "root", "root");
  node(192, 320, "Layer_1", "Eimg_Layer");
  node(320, 0, "ExternalRasterDMS", "ImgExternalRaster");
  bytes.write(file, 512, "latin1");
  return bytes;
}

/**
 * A JPEG 2000 file with metadata in which GDAL finds overviews. It follows a box that is shorter
 * than its header, or is in one that is longer than the file: GDAL goes on reading in both.
 */
function jp2File(value: string, kind: "whole" | "short" | "long"): Buffer {
  const box = (type: string, content: Buffer, length = 8 + content.length): Buffer => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(length, 0);
    head.write(type, 4, "latin1");
    return Buffer.concat([head, content]);
  };
  const metadata = `<GDALMultiDomainMetadata><Metadata domain="OVERVIEWS"><MDI key="OVERVIEW_FILE">${escape(value)}</MDI></Metadata></GDALMultiDomainMetadata>`;
  const xml = box("xml ", Buffer.from(metadata));
  const short = Buffer.from([0, 0, 0, 5, 0x66]);
  return Buffer.concat([
    box("jP  ", Buffer.from([0x0d, 0x0a, 0x87, 0x0a])),
    box("ftyp", Buffer.from("jp2 \0\0\0\0jp2 ", "latin1")),
    ...(kind === "short"
      ? [short, xml]
      : [box("asoc", xml, kind === "long" ? 0x7fff_ffff : undefined)]),
  ]);
}

const kml = (inside: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${inside}</Document></kml>`;
const placemark = (name: string): string =>
  `<Placemark><name>${name}</name><Point><coordinates>1,2</coordinates></Point></Placemark>`;
const point = `{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}`;
const collection = (crs: string): string =>
  `{"type":"FeatureCollection",${crs},"features":[${point}]}`;

export function vectorAttacks({ file, url }: Canary): Attack[] {
  const reference = "EXTERNAL_REFERENCE";
  const link = `{"type":"link","properties":{"href":"${url}/crs","type":"proj4"}}`;
  const shp = Buffer.alloc(100);
  shp.writeInt32BE(9994, 0);
  return [
    {
      name: "spatialite_view",
      files: { "leak.gpkg": writeGeoPackage("leak", virtualText(file)) },
      code: "ACTIVE_CONTENT",
    },
    {
      name: "disguised_virtual_table",
      files: {
        "leak.gpkg": writeGeoPackage("leak", [
          {
            name: "leak",
            sql: `CREATE/* a table */VIRTUAL TABLE leak USING VirtualText('${file}',UTF-8,0,COMMA,DOUBLEQUOTE)`,
          },
        ]),
      },
      code: "ACTIVE_CONTENT",
    },
    {
      name: "trigger",
      files: {
        "leak.gpkg": writeGeoPackage("leak", [
          ...points("leak"),
          {
            type: "trigger",
            name: "rtree_leak_geom_insert",
            sql: `CREATE TRIGGER rtree_leak_geom_insert AFTER INSERT ON leak BEGIN SELECT BlobFromFile('${file}'); END`,
          },
        ]),
      },
      code: "ACTIVE_CONTENT",
    },
    {
      name: "computed_column",
      files: {
        "leak.gpkg": writeGeoPackage("leak", [
          {
            name: "leak",
            sql: `CREATE TABLE leak (fid INTEGER PRIMARY KEY, geom POINT, t TEXT AS (BlobFromFile('${file}')))`,
            rows: [],
          },
        ]),
      },
      code: "ACTIVE_CONTENT",
    },
    {
      name: "layer_is_option",
      files: { "option.gpkg": writeGeoPackage("--version", points("--version")) },
      code: "NAME_NOT_ALLOWED",
    },
    {
      name: "virtual_layer_as_kml",
      files: {
        "a.kml": `<OGRVRTDataSource><OGRVRTLayer name="a"><SrcDataSource>${file}</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>`,
      },
      code: "INVALID_FORMAT",
    },
    { name: "virtual_raster_as_kml", files: { "a.kml": rawVrt(file) }, code: "INVALID_FORMAT" },
    {
      name: "gml_schema_as_kml",
      files: {
        "a.kml": `<FeatureCollection xmlns="http://www.opengis.net/wfs/2.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://x ${url}/schema.xsd"/>`,
      },
      code: "INVALID_FORMAT",
    },
    {
      name: "georss_as_kml",
      files: {
        "a.kml": `<rss version="2.0"><channel><item><link>${url}/rss</link></item></channel></rss>`,
      },
      code: "INVALID_FORMAT",
    },
    {
      name: "network_link",
      files: {
        "a.kml": kml(`<NetworkLink><Link><href>${url}/other.kml</href></Link></NetworkLink>`),
      },
      code: reference,
    },
    {
      name: "entity",
      files: {
        "a.kml": `<!DOCTYPE kml [<!ENTITY x SYSTEM "file://${file}">]>${kml(placemark("&x;")).slice(38)}`,
      },
      code: reference,
    },
    {
      name: "crs_link",
      files: { "a.geojson": collection(`"crs":${link}`) },
      code: reference,
    },
    {
      name: "crs_link_escaped",
      files: { "a.geojson": collection(String.raw`"C\u0072s"` + `:${link}`) },
      code: reference,
    },
    {
      name: "crs_link_after_nul",
      files: {
        "a.geojson": collection(String.raw`"crs\u0000${"x".repeat(80)}"` + `:${link}`),
      },
      code: reference,
    },
    {
      name: "crs_type_after_nul",
      files: {
        "a.geojson": collection(`"crs":${link.replace("type", String.raw`type\u0000`)}`),
      },
      code: reference,
    },
    {
      name: "crs_link_of_geometry",
      files: {
        "a.geojsonl": `${point}\n${point.replace('"coordinates"', `"crs":${link},"coordinates"`)}\n`,
      },
      code: reference,
    },
    {
      name: "json_comment",
      files: { "a.geojson": collection(`/* */'crs':${link}`) },
      code: "INVALID_FORMAT",
    },
    {
      name: "xml_as_csv",
      files: { "a.csv": rawVrt(file), "a.csvt": "String" },
      code: "INVALID_FORMAT",
    },
    {
      name: "shapefile_table",
      files: { "a.shp": shp, "a.shx": shp, "a.dbf": rawVrt(file) },
      code: "SIDECAR_INVALID",
    },
    {
      name: "shapefile_encoding",
      files: { "a.shp": shp, "a.shx": shp, "a.cpg": `${file}\n/../x` },
      code: "SIDECAR_INVALID",
    },
    {
      name: "shapefile_grid",
      files: {
        "a.shp": shp,
        "a.shx": shp,
        "a.prj": `GEOGCS["x",EXTENSION["PROJ4","+proj=longlat +nadgrids=${file}"]]`,
      },
      code: "SIDECAR_INVALID",
    },
    {
      name: "kmz_network_link",
      files: {
        "a.kmz": packZip({
          name: "doc.kml",
          content: Buffer.from(kml(`<NetworkLink><Link><href>${url}</href></Link></NetworkLink>`)),
        }),
      },
      code: reference,
    },
    {
      name: "virtual_layer_in_zip",
      files: { "a.zip": packZip({ name: "a.kml", content: Buffer.from(rawVrt(file)) }) },
      code: "INVALID_FORMAT",
    },
    {
      name: "link_in_zip",
      files: {
        "a.zip": packZip({ name: "a.geojson", content: Buffer.from(file), mode: 0o120777 }),
      },
      code: "ZIP_BAD_NAME",
    },
  ];
}

/** SpatiaLite's virtual table over a text file, and a layer that shows its lines. */
function virtualText(file: string): SqliteTable[] {
  return [
    {
      name: "lines",
      sql: `CREATE VIRTUAL TABLE lines USING VirtualText('${file}','UTF-8',0,COMMA,DOUBLEQUOTE,'|')`,
    },
    {
      type: "view",
      name: "leak",
      sql: `CREATE VIEW leak AS SELECT ROWNO AS fid, X'${geoPackagePoint(1, 2).toString("hex")}' AS geom, COL001 AS line FROM lines`,
    },
  ];
}

function points(name: string): SqliteTable[] {
  return [
    {
      name,
      sql: `CREATE TABLE "${name}" (fid INTEGER PRIMARY KEY, geom POINT, a TEXT)`,
      rows: [[null, geoPackagePoint(1, 2), "x"]],
    },
  ];
}

/** Names of sources that only GDAL would understand. */
export function attackPaths({ file, url }: Canary): string[] {
  return [
    `/vsicurl/${url}/named.tif`,
    `/vsicurl_streaming/${url}/named.tif`,
    `/vsizip/${file}/a.tif`,
    `/vsisubfile/0_100,${file}`,
    `NETCDF:"${url}/named.nc":band`,
    `${url}/named.nc#mode=bytes`,
    `NETCDF:"${url}/named.nc#mode=bytes":band`,
    `HDF5:"/vsicurl/${url}/named.h5"://a`,
    `ZARR:"/vsicurl/${url}/named.zarr"`,
    `/vsikerchunk/{${file}}`,
    rawVrt(file),
    file,
  ];
}

const longestExternal = 160;

/**
 * An HDF5 file whose dataset `a`, 100 bytes square, is kept in another file, as HDF5 allows. The
 * fixture is written by h5py, with a path of 160 characters that is replaced here.
 */
export function externalHdf5({ file }: Pick<Canary, "file">): Buffer {
  const bytes = readFileSync(fixture("attacks/external.h5"));
  const at = bytes.indexOf(`/${"x".repeat(longestExternal - 1)}`);
  bytes.fill(0, at, at + longestExternal);
  bytes.write(file, at, longestExternal, "latin1");
  return bytes;
}
