import { z } from "zod";

/** The formats that a layer is written in. */
export const exportFormats = {
  geoparquet: { ending: ".parquet", mediaType: "application/vnd.apache.parquet" },
  flatgeobuf: { ending: ".fgb", mediaType: "application/vnd.flatgeobuf" },
  geopackage: { ending: ".gpkg", mediaType: "application/geopackage+sqlite3" },
  pmtiles: { ending: ".pmtiles", mediaType: "application/vnd.pmtiles" },
} as const;

export type ExportFormat = keyof typeof exportFormats;
export const exportFormatNames = Object.keys(exportFormats) as [ExportFormat, ...ExportFormat[]];

/** The highest zoom that PMTiles can be asked for. */
export const mostZoom = 14;
export const highestZoom = z.number().int().min(0).max(mostZoom);
