/** The outlines of rasters in longitude and latitude, computed from their edges with GDAL. */
import { footprintOf, walkEdges } from "../../../core/catalogue/footprint.ts";
import type { Footprint } from "../../../core/catalogue/footprint.ts";
import type { Position } from "../../../core/geometry/geometry.ts";
import type { RasterCrs, Transform } from "../../../core/raster/facts.ts";
import { boundsOf } from "../../../core/raster/inspected.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import type { StoredRaster } from "./describe-raster.ts";

export interface Placed {
  readonly name: string;
  readonly crs: RasterCrs;
  readonly transform: Transform;
  readonly width: number;
  readonly height: number;
}

/**
 * Answers one footprint for each raster, in the order given. GDAL runs once for each coordinate
 * reference system, however many rasters have it.
 */
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

/** Coordinates in these systems are returned as they are, without a run of GDAL. */
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

/**
 * The footprint of an item. Its files are tiles of one grid, so together they cover a rectangle.
 */
export async function wholeFootprint(
  context: HandlerContext,
  files: readonly StoredRaster[],
): Promise<Footprint> {
  const [first] = files.map(placed);
  if (first === undefined) throw new Error("an item without a file");
  if (files.some(({ facts }) => facts.crs.wkt2 !== first.crs.wkt2)) {
    throw new PermanentError("The tiles of one item must have one coordinate reference system.", {
      code: "TILES_NOT_ON_ONE_GRID",
    });
  }
  const whole = files.length === 1 ? first : rectangleAround(first, files);
  const [footprint] = await findFootprints(context, [whole]);
  if (footprint === undefined) throw new Error("a raster without a footprint");
  return footprint;
}

export function placed({ path, facts }: StoredRaster): Placed {
  const { crs, transform, width, height } = facts;
  return { name: path, crs, transform, width, height };
}

function rectangleAround(first: Placed, files: readonly StoredRaster[]): Placed {
  const boxes = files.map(({ facts }) => boundsOf(facts));
  const west = Math.min(...boxes.map((box) => box[0]));
  const south = Math.min(...boxes.map((box) => box[1]));
  const east = Math.max(...boxes.map((box) => box[2]));
  const north = Math.max(...boxes.map((box) => box[3]));
  // One pixel of the size of the rectangle: only the edges count.
  return {
    ...first,
    transform: [east - west, 0, west, 0, south - north, north],
    width: 1,
    height: 1,
  };
}
