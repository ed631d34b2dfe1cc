/** Makes one GeoTIFF of the task from the grids of a file, with a name and a unit for each band. */
import { writeFile } from "node:fs/promises";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { wgs84Wkt } from "../../../core/raster/crs.ts";
import type { RasterCrs } from "../../../core/raster/facts.ts";
import { makeFinding } from "../../../core/raster/finding.ts";
import type { Placement } from "../../../core/raster/place-array.ts";
import { stackVrt } from "../../../core/raster/stack-vrt.ts";
import type { Variable, VariableGrid } from "../../../core/raster/variables.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { turnPart } from "./place-variables.ts";
import { plainOptions } from "./rewrite-source.ts";
import { describeGrid, readCrs, reading, runGdal, temporaryFile } from "./run-gdal.ts";
import type { Unpacked } from "./run-gdal.ts";
import { widenSignedBytes } from "./widen-signed-bytes.ts";

export interface FoundGrid {
  readonly variable: Variable;
  readonly grid: VariableGrid;
  /** Where GDAL does not place it, or lays it on its side. */
  readonly place?: Placement | undefined;
}

export async function stackGrids(
  context: HandlerContext,
  from: {
    readonly file: string;
    readonly driver: string;
    readonly also: readonly string[];
    readonly content: string;
    readonly isInDegrees: boolean;
  },
  grids: readonly FoundGrid[],
): Promise<Unpacked> {
  const parts: { readonly file: string; readonly type?: string }[] = [];
  let sideCrs: RasterCrs | null = null;
  for (const { variable, grid, place } of grids) {
    const part = temporaryFile(context, "variable.tif");
    const options = reading(context, from, "GTiff", ...from.also);
    const args = ["-q", "-of", "GTiff", ...plainOptions, variable.source, part];
    // GDAL takes the first row of an array that it does not place for the southern one.
    const env = place === undefined ? {} : { GDAL_NETCDF_BOTTOMUP: "NO" };
    await runGdal(context, "gdal_translate", args, { ...options, env });
    const widened = await widenSignedBytes(context, { file: part, driver: "GTiff" });
    const plain = widened === undefined ? { file: part } : { file: widened.file, type: "Int16" };
    if (place?.turn === undefined) parts.push(plain);
    else {
      const bands = grid.bands.map((band) => ({ ...band, ...plain }));
      const turned = await turnPart(context, plain.file, bands, place.turn);
      sideCrs ??= turned.crs;
      parts.push({ ...plain, file: turned.file });
    }
  }
  const place = grids[0]?.place;
  const stored = await describeGrid(context, { file: parts[0]?.file ?? "", driver: "GTiff" });
  const { width, height } = stored;
  const transform = place?.transform ?? stored.transform;
  const ownCrs = stored.crs ?? sideCrs;
  const crs = place?.crs === undefined ? ownCrs : await readCrs(context, place.crs);
  const isInDegrees = grids.some(
    ({ grid }) => place !== undefined || ((from.isInDegrees || grid.isInDegrees) && !grid.hasCrs),
  );
  const bands = grids.flatMap(({ grid }, index) =>
    grid.bands.map((band, at) => ({ ...band, file: "", ...parts[index], number: at + 1 })),
  );
  const times = [...new Set(bands.flatMap(({ time }) => time ?? []))].toSorted();
  const virtual = temporaryFile(context, "stack.vrt");
  const wkt2 = crs?.wkt2 ?? (isInDegrees ? wgs84Wkt : undefined);
  const metadata = timesAsMetadata(times);
  await writeFile(virtual, stackVrt({ width, height, transform, wkt2, bands, metadata }));
  await ensureSpace(context.workDir, width * height * bands.length * 8);
  const file = temporaryFile(context, "unpacked.tif");
  const args = ["-q", "-of", "GTiff", ...plainOptions, virtual, file];
  const input = { file: virtual, driver: "VRT" };
  await runGdal(context, "gdal_translate", args, reading(context, input, "GTiff"));
  const named = grids.map(({ variable }) => variable.name).filter((name) => name !== "");
  const names = [...new Set(named)];
  const what =
    names.length === 0 ? `${stored.bands.length} layers` : `the variables ${names.join(", ")}`;
  const when = times.length === 0 ? "" : ` at ${times.length} times`;
  const text = `Of ${from.content}, ${what}${when} are kept, as ${bands.length} bands.`;
  return { file, findings: [makeFinding("VARIABLES_AS_BANDS", text)] };
}

/** One time is that of the raster; several are its span. */
function timesAsMetadata(times: readonly string[]): Record<string, string> {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return {};
  if (first !== last) return { RMHDAG_TIME_SPAN: `${first}/${last}` };
  return { TIFFTAG_DATETIME: first.replaceAll("-", ":").replace("T", " ").replace("Z", "") };
}
