import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { fetchSource } from "./fetch-source.ts";
import { inspectSource } from "./inspect-source.ts";
import { openOptions } from "./open-options.ts";

export interface OpenLayer {
  readonly file: string;
  readonly openArgs: readonly string[];
  readonly layer: LayerFacts;
  /** Of SQL, with GDAL's geometry functions. */
  readonly dialect: string;
  /** The geometry's column, quoted. */
  readonly geometry: string;
  readonly quote: (name: string) => string;
}

/** A layer of a file, for handlers that ask GDAL to make another one of it. */
export async function openLayer(
  given: {
    readonly blob_path: string;
    readonly container?: string | undefined;
    readonly layer?: string | null | undefined;
  },
  context: HandlerContext,
): Promise<OpenLayer> {
  const source = await fetchSource(given, context);
  const options = await openOptions(source, {});
  const layer = await inspectSource(source, options, { wanted: given.layer, header: [] }, context);
  const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
  const column = layer.geometryColumn;
  return {
    file: source.file,
    openArgs: options.args,
    layer,
    // A GeoPackage would run SQLite's dialect by itself, without GDAL's geometry functions.
    dialect: source.file.endsWith(".gpkg") ? "INDIRECT_SQLITE" : "SQLITE",
    geometry: quote(column === undefined || column === "" ? "geometry" : column),
    quote,
  };
}
