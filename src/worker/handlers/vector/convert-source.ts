import path from "node:path";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { runOptions } from "./gdal-environment.ts";
import { dumpOptions } from "./open-dump.ts";
import { refuse } from "./refuse.ts";

/**
 * Everything that GDAL does to the features, in one run: encoding, curves to lines, longitude and
 * latitude on WGS 84. A feature that cannot be projected is skipped; the counts show that it was.
 */
export async function convertSource(
  source: {
    readonly file: string;
    readonly openArgs: readonly string[];
    readonly layer: LayerFacts;
    readonly assignCrs: string | undefined;
  },
  context: HandlerContext,
): Promise<string> {
  const file = path.join(context.workDir, `rows-${path.basename(source.file)}.sql`);
  const { assignCrs, layer } = source;
  const crs = assignCrs === undefined ? [] : ["-s_srs", assignCrs];
  const args = [
    ...dumpOptions,
    ...["-nlt", "GEOMETRY", "-nlt", "CONVERT_TO_LINEAR", "-skipfailures"],
    ...[...crs, "-t_srs", "EPSG:4326", ...source.openArgs],
    ...[file, source.file, layer.name],
  ];
  const { stderr } = await context.gdal
    .run("ogr2ogr", args, runOptions(context))
    .catch((error: unknown) => {
      if (
        error instanceof GdalError &&
        /proj|transform|srs|ellipsoid/i.test(error.lines.join("\n"))
      ) {
        throw refuse(
          "CRS_UNUSABLE",
          `GDAL cannot bring these coordinates to longitude and latitude: ${error.lines.at(-1) ?? ""}. Check source_crs and the file's own coordinate reference system.`,
          { lines: [...error.lines] },
        );
      }
      throw error;
    });
  const said = stderr.split("\n").filter((line) => line.startsWith("ERROR"));
  if (said.length > 0) context.logger.warn("GDAL skipped features", { lines: said.slice(0, 20) });
  return file;
}
