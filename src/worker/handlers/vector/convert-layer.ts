import { randomUUID } from "node:crypto";
import path from "node:path";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import { hidePaths } from "../../../adapters/runtime/redact.ts";
import { halfDegreesWkt } from "../../../core/vector/half-degrees.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { runOptions } from "./gdal-options.ts";
import { dumpOptions } from "./open-dump.ts";
import type { GrowingFile } from "./read-lines.ts";
import type { OpenedLayer } from "./with-sql.ts";

export interface Conversion extends GrowingFile {
  readonly written: Promise<unknown>;
  /** True: the coordinates are in units of two degrees. */
  readonly isHalved: boolean;
  /** Ends the program, if its rows are no longer wanted. */
  stop(): void;
}

export interface PlacedLayer extends OpenedLayer {
  /** Undefined: GDAL uses the system that the file names. */
  readonly assignCrs: string | undefined;
  /** True: GDAL transforms from its system to units of two degrees. */
  readonly isHalving: boolean;
  /** True: geometries have heights, 0 where the file has none; so those that are left out are counted. */
  readonly keepsHeights?: boolean;
  /** A condition in SQL. Undefined: all rows are converted. */
  readonly rows?: string | undefined;
}

/**
 * Begins to convert the features to UTF-8, and longitude and latitude on WGS 84, in one run of GDAL.
 * The rows are read while GDAL writes them. A feature that cannot be projected is skipped; the
 * caller sees it in the counts. Without `isProjected` coordinates stay as they are in the file.
 */
export function convertLayer(
  source: PlacedLayer & { readonly isProjected: boolean },
  name: string,
  context: HandlerContext,
): Conversion {
  // Never a file that exists: it would be read before GDAL replaces it.
  const file = path.join(context.workDir, `rows-${name}-${randomUUID()}.sql`);
  const { assignCrs } = source;
  const crs = assignCrs === undefined ? [] : ["-s_srs", assignCrs];
  const isHalved = source.isProjected && source.isHalving;
  const args = [
    ...dumpOptions,
    "-nlt",
    source.keepsHeights === true ? "GEOMETRYZ" : "GEOMETRY",
    "-skipfailures",
    ...(source.isProjected ? [...crs, "-t_srs", isHalved ? halfDegreesWkt : "EPSG:4326"] : []),
    ...source.openArgs,
    file,
    source.file,
    ...chooseRows(source),
  ];
  const stopped = new AbortController();
  const signal = AbortSignal.any([context.signal, stopped.signal]);
  const written = context.gdal
    .run("ogr2ogr", args, { ...runOptions(context, [...source.drivers, "PGDUMP"]), signal })
    .then(({ stderr }) => {
      const errors = stderr.split("\n").filter((line) => line.startsWith("ERROR"));
      if (errors.length === 0) return;
      context.logger.warn("GDAL skipped features", { lines: errors.slice(0, 20).map(hidePaths) });
    })
    .catch((error: unknown) => {
      throw explain(error, assignCrs);
    });
  written.catch(() => undefined);
  return {
    path: file,
    isHalved,
    written,
    stop: () => {
      stopped.abort(new Error("The rows are no longer wanted."));
    },
  };
}

function chooseRows({ query, rows, layer }: PlacedLayer): string[] {
  if (query === undefined) return rows === undefined ? [layer.name] : [layer.name, "-where", rows];
  return ["-sql", rows === undefined ? query : `${query} WHERE ${rows}`];
}

function explain(error: unknown, assigned: string | undefined): unknown {
  if (!(error instanceof GdalError)) return error;
  if (!/proj|transform|srs|ellipsoid/i.test(error.lines.join("\n"))) return error;
  return new PermanentError(
    `The coordinates cannot be transformed to longitude and latitude from ${assigned ?? "the system that the file names"}. Give source_crs as a code such as EPSG:32633, a PROJ string or WKT, for a place on Earth.`,
    { code: "CRS_UNUSABLE", details: { lines: [...error.lines] } },
  );
}
