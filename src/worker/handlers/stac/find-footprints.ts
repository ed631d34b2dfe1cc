import { footprintOf, walkEdges } from "../../../core/catalogue/footprint.ts";
import type { Footprint } from "../../../core/catalogue/footprint.ts";
import type { Position } from "../../../core/geometry/geometry.ts";
import type { RasterCrs, Transform } from "../../../core/raster/facts.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

export interface Placed {
  readonly name: string;
  readonly crs: RasterCrs;
  readonly transform: Transform;
  readonly width: number;
  readonly height: number;
}

/** In the order given. One run of GDAL for each coordinate system, however many rasters have it. */
export async function findFootprints(
  context: HandlerContext,
  rasters: readonly Placed[],
): Promise<Footprint[]> {
  const byCrs = new Map<string, Placed[]>();
  for (const raster of rasters) {
    const { wkt2 } = raster.crs;
    byCrs.set(wkt2, [...(byCrs.get(wkt2) ?? []), raster]);
  }
  const found = new Map<Placed, Footprint>();
  for (const [wkt2, group] of byCrs) {
    const walks = group.map((raster) => {
      const { transform, width, height } = raster;
      return { raster, edges: walkEdges(transform, width, height) };
    });
    const points = walks.flatMap(({ edges }) => edges);
    const moved = await toDegrees(context, wkt2, group[0]?.crs.code ?? null, points);
    let at = 0;
    for (const { raster, edges } of walks) {
      const footprint = footprintOf(moved.slice(at, at + edges.length));
      at += edges.length;
      if (footprint === undefined) {
        throw new PermanentError(
          `"${raster.name}" has corners that have no place on earth: is its coordinate reference system (${raster.crs.name}) the right one?`,
          { code: "FOOTPRINT_NOT_ON_EARTH" },
        );
      }
      found.set(raster, footprint);
    }
  }
  return rasters.flatMap((raster) => found.get(raster) ?? []);
}

/** Longitude and latitude are in this order already; GDAL need not be asked. */
const degrees = new Set(["EPSG:4326", "OGC:CRS84"]);

async function toDegrees(
  { gdal, workDir, signal }: HandlerContext,
  wkt2: string,
  code: string | null,
  points: readonly Position[],
): Promise<Position[]> {
  if (code !== null && degrees.has(code)) return [...points];
  const stdin = points.map(([x, y]) => `${x} ${y}\n`).join("");
  const args = ["-s_srs", code ?? wkt2, "-t_srs", "OGC:CRS84", "-output_xy"];
  const { stdout } = await gdal.run("gdaltransform", args, { workDir, signal, stdin });
  return stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
}
