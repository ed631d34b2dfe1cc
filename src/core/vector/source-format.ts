/**
 * The formats that are read, by the file's ending. The driver is always named to GDAL: left to
 * itself it opens whatever the bytes look like, and some formats are descriptions of other files.
 */
export interface SourceFormat {
  readonly name: string;
  /** The first one that this GDAL has. */
  readonly drivers: readonly string[];
  /** Files beside it that belong to it, by their endings. */
  readonly sidecars: readonly string[];
  /** What the format itself says of coordinates without a reference system. */
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

/** With the dot, in lower case. */
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
