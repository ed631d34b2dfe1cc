/** The outlines of rasters in longitude and latitude, computed from their edges with GDAL. */
import { footprintOf, hullOf, walkEdges, walkLattice } from "../../../core/catalogue/footprint.ts";
import type { Footprint } from "../../../core/catalogue/footprint.ts";
import type { Position } from "../../../core/geometry/geometry.ts";
import type { RasterCrs, Transform } from "../../../core/raster/facts.ts";
import { measureShift } from "../../../core/catalogue/datum-shift.ts";
import { horizontalWkt, meaningOf } from "../../../core/raster/crs.ts";
import { tellTransformation } from "../../../core/raster/transformation.ts";
import { boundsOf, place } from "../../../core/raster/inspected.ts";
import type { DatumShift } from "../../../core/raster/proj-definition.ts";
import { makeProjection } from "../../../adapters/tiles/projection.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { assessTransformation } from "../assess-transformation.ts";
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
      const middle = place(transform, width / 2, height / 2);
      const edges = walkEdges(transform, width, height).map(withinPoles(raster));
      return { raster, middle, edges };
    });
    const points = walks.flatMap(({ edges, middle }) => [...edges, middle]);
    const code = group[0]?.crs.code ?? null;
    const { moved, messages } = await toDegrees(context, wkt2, code, points);
    const [first] = walks;
    const middle = moved[first?.edges.length ?? 0] ?? [];
    const transformation = await assessTransformation(context, code ?? wkt2, messages, middle);
    let at = 0;
    for (const { raster, middle, edges } of walks) {
      const footprint =
        footprintOf(moved.slice(at, at + edges.length)) ??
        hullOf((await toDegrees(context, wkt2, code, latticeOf(raster))).moved);
      const datum_shift = shiftAt(wkt2, middle, moved[at + edges.length] ?? []);
      at += edges.length + 1;
      if (footprint === undefined) {
        throw new PermanentError(
          `"${raster.name}" has corners that have no place on earth: is its coordinate reference system (${raster.crs.name}) the right one?`,
          { code: "FOOTPRINT_NOT_ON_EARTH" },
        );
      }
      found.set(raster, { ...footprint, datum_shift, transformation });
    }
  }
  return rasters.flatMap((raster) => found.get(raster) ?? []);
}

function latticeOf(raster: Placed): Position[] {
  const { transform, width, height } = raster;
  return walkLattice(transform, width, height).map(withinPoles(raster));
}

/** A grid whose outermost pixels have their centres at the poles reaches half a pixel beyond. */
function withinPoles({ crs, transform }: Placed): (position: Position) => Position {
  const meaning = meaningOf(crs);
  if (meaning?.kind !== "geographic") return (position) => position;
  const pole = Math.PI / 2 / meaning.unit;
  const most = pole + 0.51 * Math.abs(transform[4]);
  return ([x = 0, y = 0]) => [x, Math.abs(y) > most ? y : Math.max(-pole, Math.min(pole, y))];
}

function shiftAt(wkt2: string, middle: Position, onWgs84: Position): DatumShift | null {
  const meaning = meaningOf({ code: null, name: "", wkt2 });
  const [longitude = NaN, latitude = NaN] = onWgs84;
  try {
    const own = makeProjection(undefined, wkt2).toDegrees(middle[0] ?? NaN, middle[1] ?? NaN);
    if (meaning === undefined || own === undefined) return null;
    return measureShift(own, meaning, [longitude, latitude]);
  } catch {
    // The server that draws tiles refuses a system without a definition there, with the reason.
    return null;
  }
}

/** Coordinates in these systems are returned as they are, without a run of GDAL. */
const degrees = new Set(["EPSG:4326", "OGC:CRS84"]);

async function toDegrees(
  { gdal, workDir, signal }: HandlerContext,
  wkt2: string,
  code: string | null,
  points: readonly Position[],
): Promise<{ moved: Position[]; messages: string }> {
  if (code !== null && degrees.has(code)) return { moved: [...points], messages: "" };
  const stdin = points.map(([x, y]) => `${x} ${y}\n`).join("");
  // Heights are none of a footprint, and their transformation may need a grid.
  const args = ["-s_srs", code ?? horizontalWkt(wkt2), "-t_srs", "OGC:CRS84", "-output_xy"];
  const { stdout, stderr } = await gdal.run("gdaltransform", args, {
    env: tellTransformation,
    workDir,
    signal,
    stdin,
    drivers: [],
  });
  const moved = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  return { moved, messages: stderr };
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
