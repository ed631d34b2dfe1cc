/**
 * The accepted formats, by the file's ending. The driver is always named to GDAL: without a name it
 * opens a file as whatever its bytes look like, and some formats refer to other files.
 */
export interface SourceFormat {
  readonly name: string;
  /** The drivers in order of preference; the first that this GDAL has is used. */
  readonly drivers: readonly string[];
  /** The endings of the files beside it that belong to it. */
  readonly sidecars: readonly string[];
  /** The CRS that the format implies for coordinates without one. */
  readonly impliedCrs?: string;
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
};
const lines: SourceFormat = {
  name: "GeoJSON lines",
  drivers: ["GeoJSONSeq"],
  sidecars: [],
  impliedCrs: "EPSG:4326",
};
const kml: SourceFormat = {
  name: "KML",
  drivers: ["LIBKML", "KML"],
  sidecars: [],
  impliedCrs: "EPSG:4326",
};
const csv: SourceFormat = { name: "CSV", drivers: ["CSV"], sidecars: [] };

const formats: ReadonlyMap<string, SourceFormat> = new Map([
  [".shp", shapefile],
  [".gpkg", { name: "GeoPackage", drivers: ["GPKG"], sidecars: [] }],
  [".geojson", geojson],
  [".json", geojson],
  [".geojsonl", lines],
  [".geojsonseq", lines],
  [".ndjson", lines],
  [".fgb", { name: "FlatGeobuf", drivers: ["FlatGeobuf"], sidecars: [] }],
  [".kml", kml],
  [".csv", csv],
  [".tsv", csv],
]);

export const knownEndings: readonly string[] = [...formats.keys(), ".zip"];

/** The ending with its dot, in lower case. */
export function endingOf(path: string): string {
  return /\.[^./]+$/.exec(path)?.[0].toLowerCase() ?? "";
}

export function formatOf(path: string): SourceFormat | undefined {
  return formats.get(endingOf(path));
}

export function isCsv(format: SourceFormat): boolean {
  return format === csv;
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

/** RFC 8142 puts this character before each line. */
export const recordSeparator = "\u001e";

/** Whether the first bytes of a file fit the format that its name claims. */
export function looksLike(format: SourceFormat, start: Uint8Array): boolean {
  const text = textOf(start);
  switch (format.name) {
    case "Shapefile":
      return start[0] === 0 && start[1] === 0 && start[2] === 0x27 && start[3] === 0x0a;
    case "GeoPackage":
      return text.startsWith("SQLite format 3\0");
    case "FlatGeobuf":
      return text.startsWith("fgb");
    case "GeoJSON":
      return text.trimStart().startsWith("{");
    case "GeoJSON lines":
      return text.replaceAll(recordSeparator, "").trimStart().startsWith("{");
    case "KML":
      return /^\s*</.test(text) && !/<(?:OGRVRTDataSource|VRTDataset)\b/.test(text);
    default:
      return !/^\s*[<{]/.test(text);
  }
}

/** Decodes the bytes without a byte order mark. */
function textOf(start: Uint8Array): string {
  const isMarked = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  return String.fromCharCode(...start.subarray(isMarked ? 3 : 0));
}
