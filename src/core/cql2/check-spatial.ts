import { shapesOf, sizeOf } from "../geometry/geometry.ts";
import type { Filter } from "./ast.ts";
import { invalidFilter } from "./ast.ts";
import { spatialParts } from "./separate-spatial.ts";

/** A test against a larger one would keep everybody else waiting. */
const mostPositions = 10_000;

/** Its spatial conditions name a geometry, and ask for one of a size that can be compared. */
export function checkSpatial(filter: Filter, geometryNames: readonly string[]): void {
  for (const { property, geometry } of spatialParts(filter)) {
    if (!geometryNames.includes(property)) {
      throw invalidFilter(`"${property}" is no geometry: use "${geometryNames[0] ?? ""}".`);
    }
    if (sizeOf(shapesOf(geometry)) > mostPositions) {
      throw invalidFilter(`A geometry has more than ${mostPositions} positions: simplify it.`);
    }
  }
}
