/** The formats that a layer is written in. */
export const exportFormats = {
  geoparquet: { ending: ".parquet", mediaType: "application/vnd.apache.parquet" },
  flatgeobuf: { ending: ".fgb", mediaType: "application/vnd.flatgeobuf" },
  geopackage: { ending: ".gpkg", mediaType: "application/geopackage+sqlite3" },
  pmtiles: { ending: ".pmtiles", mediaType: "application/vnd.pmtiles" },
} as const;

export type ExportFormat = keyof typeof exportFormats;
export const exportFormatNames = Object.keys(exportFormats) as [ExportFormat, ...ExportFormat[]];
