/** Which layer of the file is meant, and whether it can become a table. */
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import { readOgrinfo } from "../../../core/vector/read-ogrinfo.ts";
import type { HandlerContext } from "../../define-handler.ts";
import type { SourceFile } from "./fetch-source.ts";
import { runOptions } from "./gdal-environment.ts";
import type { OpenOptions } from "./open-options.ts";
import { refuse } from "./refuse.ts";

/** PostgreSQL ends at 1600, and a row of so many no longer fits into a page. */
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
      throw refuse(
        "FILE_UNREADABLE",
        `GDAL cannot read the file as ${source.format.name}. Open it in a GIS and save it again.`,
        { lines: error.lines.map((line) => line.replaceAll(`${context.workDir}/`, "")) },
      );
    });
  const layer = choose(readOgrinfo(stdout), wanted);
  refuseWide(layer.fields.length);
  return layer;
}

function refuseWide(columns: number): void {
  if (columns <= mostColumns) return;
  throw refuse(
    "TOO_MANY_COLUMNS",
    `The file has ${columns} columns, and a layer has at most ${mostColumns}: leave out columns, or turn them into rows.`,
    { columns, limit: mostColumns },
  );
}

function choose(layers: readonly LayerFacts[], wanted: string | null | undefined): LayerFacts {
  const names = layers.map((layer) => layer.name).join(", ");
  if (wanted != null) {
    const found = layers.find((layer) => layer.name === wanted);
    if (found !== undefined) return found;
    throw refuse("LAYER_NOT_FOUND", `The file has no layer "${wanted}"; it has: ${names}.`);
  }
  const located = layers.filter((layer) => layer.geometryType !== "None");
  const [layer, another] = located;
  if (layer === undefined) {
    throw refuse(
      "NO_GEOMETRY",
      "The file has no geometries. A CSV needs columns with longitude and latitude, or with WKT: name them with longitude_column and latitude_column, or geometry_column.",
    );
  }
  if (another === undefined) return layer;
  throw refuse(
    "LAYER_AMBIGUOUS",
    `The file has several layers: ${names}. Say which one with "layer", one job each.`,
    { layers: located.map((each) => each.name) },
  );
}
