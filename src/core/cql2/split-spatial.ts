import type { SearchGeometry } from "../catalogue/geometry.ts";
import type { Filter } from "./ast.ts";
import { invalidFilter } from "./ast.ts";

/**
 * A database without geometry functions can look for boxes; whether geometries really meet is decided
 * afterwards, item by item. That works for conditions that all hold at once and for no others, so
 * they are taken out of the outermost "and".
 */
export function splitSpatial(filter: Filter): {
  readonly rest: Filter | undefined;
  readonly spatial: readonly { readonly property: string; readonly geometry: SearchGeometry }[];
} {
  const parts = flatten(filter);
  const spatial = parts.filter((part) => part.kind === "intersects");
  const rest = parts.filter((part) => part.kind !== "intersects");
  if (rest.some(hasSpatial)) {
    throw invalidFilter('"s_intersects" can be joined to other conditions by "and" only.');
  }
  return { rest: rest.length === 0 ? undefined : { kind: "all", parts: rest }, spatial };
}

function flatten(filter: Filter): readonly Filter[] {
  return filter.kind === "all" ? filter.parts.flatMap(flatten) : [filter];
}

function hasSpatial(filter: Filter): boolean {
  if (filter.kind === "intersects") return true;
  if (filter.kind === "not") return hasSpatial(filter.part);
  return (filter.kind === "all" || filter.kind === "any") && filter.parts.some(hasSpatial);
}
