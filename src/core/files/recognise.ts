/**
 * Suggests a workflow for a file by its content and name. It is a suggestion: the workflow checks the
 * file again, and refuses what it cannot read.
 */
import type { JsonObject } from "../model/json.ts";
import type { Content } from "./detect-content.ts";
import { rasterDriverOf } from "./detect-content.ts";

export interface Recognised {
  readonly kind: "raster" | "vector" | "unknown";
  /** In words, such as "zipped Shapefile". */
  readonly format: string;
  readonly workflow_id: string | null;
  readonly inputs: JsonObject;
}

const vectorBinaries: ReadonlyMap<string, string> = new Map([
  ["SQLite", "GeoPackage"],
  ["Shapefile", "Shapefile"],
  ["FlatGeobuf", "FlatGeobuf"],
  ["Parquet", "GeoParquet"],
]);
const vectorTexts: ReadonlySet<string> = new Set(["KML", "GML", "GPX", "DXF"]);
const tableName = /\.(?:csv|tsv)$/i;

/** The endings of files in an archive; each decides which format the archive holds. */
const packed: readonly (readonly [string, string, "raster" | "vector"])[] = [
  [".shp", "zipped Shapefile", "vector"],
  [".gdbtable", "zipped File Geodatabase", "vector"],
  [".gpkg", "zipped GeoPackage", "vector"],
  [".geojson", "zipped GeoJSON", "vector"],
  [".kml", "KMZ", "vector"],
  [".zarray", "zipped Zarr", "raster"],
  [".zgroup", "zipped Zarr", "raster"],
  [".fgb", "zipped FlatGeobuf", "vector"],
  [".gml", "zipped GML", "vector"],
];

export function recognise(
  path: string,
  content: Content,
  /** The names in an archive. */
  entries: readonly string[] = [],
): Recognised {
  const found = findKind(path, content, entries);
  if (found === undefined) {
    return { kind: "unknown", format: content.name, workflow_id: null, inputs: {} };
  }
  const item_id = itemIdOf(path);
  return found.kind === "raster"
    ? {
        ...found,
        workflow_id: "raster_ingest",
        inputs: { ...place(path), collection_id: "rasters", item_id },
      }
    : {
        ...found,
        workflow_id: "vector_etl",
        inputs: { ...place(path), table_name: tableNameOf(path) },
      };
}

function findKind(
  path: string,
  content: Content,
  entries: readonly string[],
): Pick<Recognised, "kind" | "format"> | undefined {
  if (rasterDriverOf(content) !== undefined) return { kind: "raster", format: content.name };
  const vector = (format: string) => ({ kind: "vector", format }) as const;
  if (content.kind === "binary" && content.name === "zip archive") {
    const names = entries.map((name) => name.toLowerCase());
    if (names.includes("xl/workbook.xml")) return vector("XLSX");
    const match = packed.find(([ending]) => names.some((name) => name.endsWith(ending)));
    return match && { kind: match[2], format: match[1] };
  }
  const binary = content.kind === "binary" ? vectorBinaries.get(content.name) : undefined;
  if (binary !== undefined) return vector(binary);
  if (vectorTexts.has(content.name)) return vector(content.name);
  if (content.kind === "json") return vector("GeoJSON");
  if (content.kind === "table") return vector("dBASE table");
  if (content.name === "plain text" && tableName.test(path)) return vector("CSV");
  return undefined;
}

/** The zone apart from the rest, as both workflows take it. */
function place(path: string): JsonObject {
  const at = path.indexOf("/");
  return { container: path.slice(0, at), blob_path: path.slice(at + 1) };
}

function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.replace(/(?:\.[A-Za-z\d]{1,10}){1,2}$/, "") || name;
}

function itemIdOf(path: string): string {
  const plain = stemOf(path).replaceAll(/[^A-Za-z0-9_.-]+/g, "-");
  return (
    plain
      .replace(/^[^A-Za-z0-9]+/, "")
      .replace(/-+$/, "")
      .slice(0, 100) || "file"
  );
}

function tableNameOf(path: string): string {
  const plain = stemOf(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  return (/^[a-z_]/.test(plain) ? plain : `t_${plain}`).slice(0, 54);
}
