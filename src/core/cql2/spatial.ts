/**
 * A database without geometry functions can only compare boxes; whether geometries intersect is
 * decided afterwards, row by row. So a filter is split: a wider filter, which misses nothing and
 * can use an index, and a function that decides each row from the database's answers about
 * everything that is not spatial.
 */
import type { Ring, SearchGeometry } from "../geometry/geometry.ts";
import { makeIntersects } from "../geometry/intersects.ts";
import type { Filter } from "./ast.ts";
import { positionAt, shapesOf, sizeOf } from "../geometry/geometry.ts";
import { invalidFilter } from "./ast.ts";

/** Three-valued as in SQL: null is unknown. */
type Truth = boolean | null;

export interface SpatialFilter {
  /**
   * Every row that meets the filter meets this one; its spatial conditions may be compared by
   * boxes.
   */
  readonly wide: Filter;
  /** The conditions that the database answers for every row, in this order. */
  readonly asked: readonly Filter[];
  readonly decide: (answers: readonly Truth[], geometry: SearchGeometry) => boolean;
}

/** Undefined: no part of the filter is spatial. */
export function separateSpatial(filter: Filter): SpatialFilter | undefined {
  if (spatialParts(filter).length === 0) return undefined;
  const asked: Filter[] = [];
  const decide = decisionOf(filter, asked);
  return {
    wide: widen(filter, false),
    asked,
    decide: (answers, geometry) => decide(answers, geometry) === true,
  };
}

export function spatialParts(filter: Filter): readonly (Filter & { kind: "intersects" })[] {
  switch (filter.kind) {
    case "intersects":
      return [filter];
    case "not":
      return spatialParts(filter.part);
    case "all":
    case "any":
      return filter.parts.flatMap(spatialParts);
    default:
      return [];
  }
}

/** Under a "not" an overlapping box proves nothing, so there the condition counts as not met. */
function widen(filter: Filter, isNegated: boolean): Filter {
  switch (filter.kind) {
    case "intersects":
      return isNegated ? { kind: "constant", value: false } : filter;
    case "not":
      return { kind: "not", part: widen(filter.part, !isNegated) };
    case "all":
    case "any":
      return { ...filter, parts: filter.parts.map((part) => widen(part, isNegated)) };
    default:
      return filter;
  }
}

type Decision = (answers: readonly Truth[], geometry: SearchGeometry) => Truth;

function decisionOf(filter: Filter, asked: Filter[]): Decision {
  if (spatialParts(filter).length === 0) {
    const place = asked.push(filter) - 1;
    return (answers) => answers[place] ?? null;
  }
  switch (filter.kind) {
    case "intersects": {
      const meets = makeIntersects(filter.geometry);
      return (_, geometry) => meets(geometry);
    }
    case "not": {
      const part = decisionOf(filter.part, asked);
      return (answers, geometry) => {
        const truth = part(answers, geometry);
        return truth === null ? null : !truth;
      };
    }
    case "all":
    case "any": {
      const parts = filter.parts.map((part) => decisionOf(part, asked));
      return (answers, geometry) => join(filter.kind === "any", parts, answers, geometry);
    }
    default:
      throw new Error(`"${filter.kind}" has no part that is spatial`);
  }
}

/** `settles` is the value that decides alone: true in an "or", false in an "and". */
function join(
  settles: boolean,
  parts: readonly Decision[],
  answers: readonly Truth[],
  geometry: SearchGeometry,
): Truth {
  let truth: Truth = !settles;
  for (const part of parts) {
    const each = part(answers, geometry);
    if (each === settles) return settles;
    if (each === null) truth = null;
  }
  return truth;
}

/** Testing a larger geometry would block the process for too long. */
const mostPositions = 10_000;

/**
 * Checks that spatial conditions name a geometry property, compare with geometries of limited size,
 * and have closed rings.
 */
export function checkSpatial(filter: Filter, geometryNames: readonly string[]): void {
  let positions = 0;
  for (const { property, geometry } of spatialParts(filter)) {
    if (!geometryNames.includes(property)) {
      throw invalidFilter(`"${property}" is no geometry: use "${geometryNames[0] ?? ""}".`);
    }
    const shapes = shapesOf(geometry);
    positions += sizeOf(shapes);
    if (positions > mostPositions) {
      throw invalidFilter(`The geometry has more than ${mostPositions} positions: simplify it.`);
    }
    // PostGIS refuses others as an error of its own.
    if (!shapes.polygons.flat().every(isClosed)) {
      throw invalidFilter("A ring of a polygon must end where it begins.");
    }
  }
}

function isClosed(ring: Ring): boolean {
  const [first, last] = [positionAt(ring, 0), positionAt(ring, -1)];
  return first[0] === last[0] && first[1] === last[1];
}
