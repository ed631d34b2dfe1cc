/** Chooses the layer of a source, and refuses a layer that cannot become a table. */
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import { readOgrinfo } from "../../../core/vector/read-ogrinfo.ts";
import { isCsv, isTable } from "../../../core/vector/source-format.ts";
import type { SourceFormat } from "../../../core/vector/source-format.ts";
import { shown } from "../../../core/files/problem.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { FileRefused } from "./check-source.ts";
import type { SourceFile } from "./fetch-source.ts";
import { runOptions } from "./gdal-options.ts";
import type { OpenOptions } from "./gdal-options.ts";

/** PostgreSQL allows 1600 columns, but a row with so many values does not fit into a page. */
const mostColumns = 1000;
const mostLayers = 100;

type InspectedSource = Pick<SourceFile, "file" | "drivers" | "format" | "lines" | "hasHeights">;

/**
 * What GDAL would tell of a file of JSON lines, which it would read once more for it: the types of the
 * columns are in its dump too.
 */
export function layerOfLines({ lines = Number.NaN, hasHeights }: InspectedSource): LayerFacts {
  return {
    name: "source",
    geometryType: hasHeights === true ? "3D Unknown (any)" : "Unknown (any)",
    featureCount: lines,
    crsWkt: "EPSG:4326",
    geometryColumn: undefined,
    extent: undefined,
    fields: [],
    types: [],
    fidColumn: undefined,
  };
}

/** Reads the layers of a file, and chooses those with geometries or the wanted one. */
export async function inspectSource(
  source: InspectedSource,
  options: Pick<OpenOptions, "args">,
  {
    wanted,
    header = [],
    needsExtent = false,
  }: {
    readonly wanted: string | null | undefined;
    readonly header?: readonly string[];
    readonly needsExtent?: boolean;
  },
  context: HandlerContext,
): Promise<LayerFacts[]> {
  refuseWide(header.length);
  // Counting the features and measuring the extent each read a file of lines once more.
  const isSlow = source.lines !== undefined;
  const brief = [...(isSlow ? ["-nocount"] : []), ...(needsExtent ? [] : ["-noextent"])];
  const args = ["-ro", "-so", "-al", ...brief, ...options.args, source.file];
  const { stdout } = await context.gdal
    .run("ogrinfo", args, runOptions(context, source.drivers))
    .catch((error: unknown) => {
      if (!(error instanceof GdalError) || error.category !== "permanent") throw error;
      throw new PermanentError(
        `GDAL cannot read the file as ${source.format.name}. Open it in a GIS and save it again.`,
        {
          code: "FILE_UNREADABLE",
          details: { lines: [...error.lines] },
        },
      );
    });
  const found = readOgrinfo(stdout).map((layer) =>
    isSlow ? { ...layer, featureCount: source.lines ?? Number.NaN } : layer,
  );
  const layers = choose(found, wanted, source.format);
  for (const layer of layers) {
    refuseWide(layer.fields.length);
    refuseOption(layer.name);
  }
  return layers;
}

/** The only layer of a file, or the wanted one. */
export async function inspectLayer(
  source: Parameters<typeof inspectSource>[0],
  options: Pick<OpenOptions, "args">,
  wanted: string | null | undefined,
  context: HandlerContext,
): Promise<LayerFacts> {
  const layers = await inspectSource(source, options, { wanted }, context);
  const [layer] = layers;
  if (layer !== undefined && layers.length === 1) return layer;
  const names = layers.map((each) => each.name);
  throw new PermanentError(
    `The file has several layers: ${names.join(", ")}. Say which one with "layer".`,
    { code: "LAYER_AMBIGUOUS", details: { layers: names } },
  );
}

/** A layer's name is an argument of GDAL's programs, where a hyphen begins an option. */
function refuseOption(name: string): void {
  if (name !== "" && !/^-|\p{Cc}/u.test(name)) return;
  throw new FileRefused({
    code: "NAME_NOT_ALLOWED",
    message: `The layer "${shown(name)}" has a name that cannot be used.`,
  });
}

export function refuseWide(columns: number): void {
  if (columns <= mostColumns) return;
  throw new PermanentError(
    `The file has ${columns} columns, and a layer has at most ${mostColumns}: leave out columns, or turn them into rows.`,
    { code: "TOO_MANY_COLUMNS", details: { columns, limit: mostColumns } },
  );
}

function choose(
  layers: readonly LayerFacts[],
  wanted: string | null | undefined,
  format: SourceFormat,
): LayerFacts[] {
  if (wanted != null) {
    const found = layers.find((layer) => layer.name === wanted);
    if (found !== undefined) return [found];
    const names = layers.map((layer) => layer.name).join(", ");
    throw new PermanentError(`The file has no layer "${wanted}"; it has: ${names}.`, {
      code: "LAYER_NOT_FOUND",
    });
  }
  const located = layers.filter((layer) => layer.geometryType !== "None");
  if (located.length > mostLayers) {
    throw new PermanentError(
      `The file has ${located.length} layers, and one job loads at most ${mostLayers}: name one with "layer", one job each.`,
      { code: "LAYER_AMBIGUOUS", details: { layers: located.map((each) => each.name) } },
    );
  }
  if (located.length > 0) return located;
  const remedy =
    isCsv(format) || isTable(format)
      ? "A table needs columns with longitude and latitude, or with WKT: name them with longitude_column and latitude_column, or geometry_column."
      : "Send a table as CSV, with columns of longitude and latitude or of WKT.";
  throw new PermanentError(`The file has no geometries. ${remedy}`, { code: "NO_GEOMETRY" });
}
