/** Chooses the layer of a source, and refuses a layer that cannot become a table. */
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import { readOgrinfo } from "../../../core/vector/read-ogrinfo.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import type { SourceFile } from "./fetch-source.ts";
import { runOptions } from "./gdal-options.ts";
import type { OpenOptions } from "./gdal-options.ts";

/** PostgreSQL allows 1600 columns, but a row with so many values does not fit into a page. */
const mostColumns = 1000;

export async function inspectSource(
  source: SourceFile,
  options: OpenOptions,
  {
    wanted,
    header,
  }: { readonly wanted: string | null | undefined; readonly header: readonly string[] },
  context: HandlerContext,
): Promise<LayerFacts> {
  refuseWide(header.length);
  const args = ["-ro", "-so", "-al", ...options.args, source.file];
  const { stdout } = await context.gdal
    .run("ogrinfo", args, runOptions(context))
    .catch((error: unknown) => {
      if (!(error instanceof GdalError) || error.category !== "permanent") throw error;
      throw new PermanentError(
        `GDAL cannot read the file as ${source.format.name}. Open it in a GIS and save it again.`,
        {
          code: "FILE_UNREADABLE",
          details: { lines: error.lines.map((line) => line.replaceAll(`${context.workDir}/`, "")) },
        },
      );
    });
  const layer = choose(readOgrinfo(stdout), wanted);
  refuseWide(layer.fields.length);
  return layer;
}

function refuseWide(columns: number): void {
  if (columns <= mostColumns) return;
  throw new PermanentError(
    `The file has ${columns} columns, and a layer has at most ${mostColumns}: leave out columns, or turn them into rows.`,
    { code: "TOO_MANY_COLUMNS", details: { columns, limit: mostColumns } },
  );
}

function choose(layers: readonly LayerFacts[], wanted: string | null | undefined): LayerFacts {
  const names = layers.map((layer) => layer.name).join(", ");
  if (wanted != null) {
    const found = layers.find((layer) => layer.name === wanted);
    if (found !== undefined) return found;
    throw new PermanentError(`The file has no layer "${wanted}"; it has: ${names}.`, {
      code: "LAYER_NOT_FOUND",
    });
  }
  const located = layers.filter((layer) => layer.geometryType !== "None");
  const [layer, another] = located;
  if (layer === undefined) {
    throw new PermanentError(
      "The file has no geometries. A CSV needs columns with longitude and latitude, or with WKT: name them with longitude_column and latitude_column, or geometry_column.",
      { code: "NO_GEOMETRY" },
    );
  }
  if (another === undefined) return layer;
  throw new PermanentError(
    `The file has several layers: ${names}. Say which one with "layer", one job each.`,
    { code: "LAYER_AMBIGUOUS", details: { layers: located.map((each) => each.name) } },
  );
}
