import { boundsOf } from "../../../core/raster/inspected.ts";
import type { Footprint } from "../../../core/catalogue/footprint.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import type { StoredRaster } from "./describe-raster.ts";
import type { Placed } from "./find-footprints.ts";
import { findFootprints } from "./find-footprints.ts";

/** Tiles of one raster lie on one grid: together they cover a rectangle of it. */
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
  const whole = files.length === 1 ? first : around(first, files);
  const [footprint] = await findFootprints(context, [whole]);
  if (footprint === undefined) throw new Error("a raster without a footprint");
  return footprint;
}

export function placed({ path, facts }: StoredRaster): Placed {
  const { crs, transform, width, height } = facts;
  return { name: path, crs, transform, width, height };
}

function around(first: Placed, files: readonly StoredRaster[]): Placed {
  const boxes = files.map(({ facts }) => boundsOf(facts));
  const west = Math.min(...boxes.map((box) => box[0]));
  const south = Math.min(...boxes.map((box) => box[1]));
  const east = Math.max(...boxes.map((box) => box[2]));
  const north = Math.max(...boxes.map((box) => box[3]));
  // One pixel as large as the whole: only its edges are walked.
  return {
    ...first,
    transform: [east - west, 0, west, 0, south - north, north],
    width: 1,
    height: 1,
  };
}
