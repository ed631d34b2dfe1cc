/**
 * The accepted formats, by the file's ending. The content must be what the ending says, and GDAL
 * opens it with the format's driver only.
 */
export interface SourceFormat {
  readonly name: string;
  /** The drivers in order of preference; the first that this GDAL has is used. */
  readonly drivers: readonly string[];
  /** The endings of the files beside it that belong to it. */
  readonly sidecars: readonly string[];
  /** The CRS that the format implies for coordinates without one. */
  readonly impliedCrs?: string;
  /** Its values are text, from which the types of the columns are found. */
  readonly isUntyped?: true;
  /** A file of characters, which can be written again in another encoding. */
  readonly isText?: true;
}

const shapefile: SourceFormat = {
  name: "Shapefile",
  drivers: ["ESRI Shapefile"],
  sidecars: [".dbf", ".shx", ".prj", ".cpg"],
};
const geojson: SourceFormat = {
  name: "GeoJSON",
  drivers: ["GeoJSON"],
  sidecars: [],
  impliedCrs: "EPSG:4326",
  isText: true,
};
const lines: SourceFormat = {
  name: "GeoJSON lines",
  drivers: ["GeoJSONSeq"],
  sidecars: [],
  impliedCrs: "EPSG:4326",
  isText: true,
};
const kml: SourceFormat = {
  name: "KML",
  drivers: ["LIBKML", "KML"],
  sidecars: [],
  impliedCrs: "EPSG:4326",
};
const topojson: SourceFormat = {
  name: "TopoJSON",
  drivers: ["TopoJSON"],
  sidecars: [],
  impliedCrs: "EPSG:4326",
  isText: true,
};
export const csv: SourceFormat = {
  name: "CSV",
  drivers: ["CSV"],
  sidecars: [],
  isUntyped: true,
  isText: true,
};
const geodatabase: SourceFormat = {
  name: "File Geodatabase",
  drivers: ["OpenFileGDB"],
  sidecars: [],
};
const spreadsheet: SourceFormat = { name: "XLSX", drivers: ["XLSX"], sidecars: [] };
const dbase: SourceFormat = {
  name: "dBASE table",
  drivers: ["ESRI Shapefile"],
  sidecars: [".cpg"],
};
const flatgeobuf: SourceFormat = { name: "FlatGeobuf", drivers: ["FlatGeobuf"], sidecars: [] };
const geopackage: SourceFormat = { name: "GeoPackage", drivers: ["GPKG"], sidecars: [] };
const parquet: SourceFormat = { name: "GeoParquet", drivers: [], sidecars: [] };

const gml: SourceFormat = { name: "GML", drivers: ["GML"], sidecars: [], isUntyped: true };

const formats: ReadonlyMap<string, SourceFormat> = new Map([
  [".shp", shapefile],
  [".gpkg", geopackage],
  [".geojson", geojson],
  [".json", geojson],
  [".geojsonl", lines],
  [".geojsonseq", lines],
  [".ndjson", lines],
  [".fgb", flatgeobuf],
  [".kml", kml],
  [".topojson", topojson],
  [".gml", gml],
  [".gpx", { name: "GPX", drivers: ["GPX"], sidecars: [], impliedCrs: "EPSG:4326" }],
  [".dxf", { name: "DXF", drivers: ["DXF"], sidecars: [], isText: true }],
  [".gdb", geodatabase],
  [".xlsx", spreadsheet],
  [".dbf", dbase],
  [".parquet", parquet],
  [".geoparquet", parquet],
  [".csv", csv],
  [".tsv", csv],
]);

/** Archives with one layer in them; a KMZ is one with a KML. */
const archives = [".zip", ".kmz"];
export const isArchive = (path: string): boolean => archives.includes(endingOf(path));

export const knownEndings: readonly string[] = [...formats.keys(), ...archives];

/** The ending with its dot, in lower case. */
export function endingOf(path: string): string {
  return /\.[^./]+$/.exec(path)?.[0].toLowerCase() ?? "";
}

export function formatOf(path: string): SourceFormat | undefined {
  return formats.get(endingOf(path));
}

/**
 * The format of a file whose ending says `claimed` and whose content is `found`. GeoJSON, GeoJSON
 * lines and TopoJSON share their endings: the content decides between them. Undefined: they do not agree.
 */
export function formatOfContent(
  claimed: SourceFormat,
  found: string | undefined,
): SourceFormat | undefined {
  const json = [geojson, lines, topojson];
  if (json.includes(claimed)) return json.find((format) => format.name === found);
  return claimed.name === found ? claimed : undefined;
}

export function isCsv(format: SourceFormat): boolean {
  return format === csv;
}

export function isFlatgeobuf(format: SourceFormat): boolean {
  return format === flatgeobuf;
}

export function isGml(format: SourceFormat): boolean {
  return format === gml;
}

export function isKml(format: SourceFormat): boolean {
  return format === kml;
}

export function isGeoPackage(format: SourceFormat): boolean {
  return format === geopackage;
}

export function isParquet(format: SourceFormat): boolean {
  return format === parquet;
}

/** A table whose rows become points by two of its columns. */
export function isTable(format: SourceFormat): boolean {
  return format === spreadsheet || format === dbase;
}

export function isShapefile(format: SourceFormat): boolean {
  return format === shapefile;
}

const languageByte = 29;

/**
 * Guesses the encoding of a dBASE table that does not name it. Undefined: the table names it, or
 * all its text is ASCII. Text that follows the rules of UTF-8 by chance is rare enough.
 */
export function guessEncoding(table: Uint8Array): "UTF-8" | "CP1252" | undefined {
  if ((table[languageByte] ?? 0) !== 0) return undefined;
  const header = (table[8] ?? 0) | ((table[9] ?? 0) << 8);
  const rows = table.subarray(header);
  if (rows.every((byte) => byte < 0x80)) return undefined;
  return isUtf8(rows) ? "UTF-8" : "CP1252";
}

function isUtf8(bytes: Uint8Array): boolean {
  let following = 0;
  for (const byte of bytes) {
    if (following > 0) {
      if (byte >> 6 !== 0b10) return false;
      following -= 1;
    } else if (byte >= 0x80) {
      if (byte >> 5 === 0b110) following = 1;
      else if (byte >> 4 === 0b1110) following = 2;
      else if (byte >> 3 === 0b11110) following = 3;
      else return false;
    }
  }
  return true;
}
