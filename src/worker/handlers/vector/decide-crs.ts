/**
 * Decides the coordinate reference system of a source: the file's own, the given one, or the
 * format's.
 */
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import type { VectorFinding } from "../../../core/vector/findings.ts";
import { crsAssignedFinding, crsAssumedFinding } from "../../../core/vector/findings.ts";
import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import { isCsv } from "../../../core/vector/source-format.ts";
import type { SourceFormat } from "../../../core/vector/source-format.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { runOptions } from "./gdal-options.ts";

export interface CrsDecision {
  /** Undefined: GDAL uses the system that the file names. */
  readonly assign: string | undefined;
  readonly findings: readonly VectorFinding[];
}

export async function decideCrs(
  source: {
    readonly format: SourceFormat;
    readonly layer: LayerFacts;
    readonly ownCrs?: string | undefined;
  },
  given: { readonly source_crs?: string | null | undefined; readonly hasDegreeColumns: boolean },
  context: HandlerContext,
): Promise<CrsDecision> {
  const { source_crs: wanted } = given;
  const { layer } = source;
  const own = source.ownCrs ?? layer.crsWkt;
  if (own !== undefined) {
    if (wanted != null) await refuseMismatch(own, wanted, layer.extent, context);
    return { assign: source.ownCrs, findings: [] };
  }
  if (wanted != null) return { assign: wanted, findings: [crsAssignedFinding(wanted)] };
  if (source.format.impliedCrs !== undefined) {
    return { assign: source.format.impliedCrs, findings: [] };
  }
  if (isCsv(source.format) && given.hasDegreeColumns) {
    return { assign: "EPSG:4326", findings: [crsAssumedFinding("EPSG:4326")] };
  }
  throw new PermanentError(
    "The file does not say in which coordinate reference system its coordinates are. Send the .prj file with it, or submit again with source_crs, such as EPSG:4326.",
    { code: "CRS_MISSING" },
  );
}

/**
 * Refuses a given system that differs from the file's. Two definitions are equal if a
 * transformation between them moves no point: EPSG:4326, OGC:CRS84 and the WKT of either are one
 * system.
 */
async function refuseMismatch(
  inFile: string,
  wanted: string,
  extent: LayerFacts["extent"],
  context: HandlerContext,
): Promise<void> {
  const [west, south, east, north] = extent ?? [0, 0, 1, 1];
  const places: [number, number][] = [
    [west, south],
    [(west + east) / 2, (south + north) / 2],
    [east, north],
  ];
  const stdin = `${places.map(([x, y]) => `${x} ${y}`).join("\n")}\n`;
  const args = ["-s_srs", inFile, "-t_srs", wanted];
  const moved = await context.gdal
    .run("gdaltransform", args, { ...runOptions(context, []), stdin })
    .catch((error: unknown) => {
      if (error instanceof GdalError && error.category === "permanent") return undefined;
      throw error;
    });
  const lines = moved?.stdout.trim().split("\n") ?? [];
  const isSame = places.every(([x, y], index) => {
    const [tx = Number.NaN, ty = Number.NaN] = (lines[index] ?? "").split(/\s+/).map(Number);
    const near = (a: number, b: number) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a));
    return near(x, tx) && near(y, ty);
  });
  if (isSame) return;
  const name = /^\w+\["([^"]*)"/.exec(inFile)?.[1] ?? "another system";
  throw new PermanentError(
    `The file says that its coordinates are in ${name}, and source_crs says ${wanted}. Leave out source_crs, or correct the file.`,
    { code: "CRS_MISMATCH" },
  );
}
