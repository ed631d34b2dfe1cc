import type { Parts } from "./parts.ts";
import { at, everyLine } from "./parts.ts";

/** West, south, east, north. */
export type Bounds = [number, number, number, number];

/** Undefined: nothing is there. */
export function boundsOf(parts: Parts): Bounds | undefined {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const line of everyLine(parts)) {
    for (let index = 0; index < line.length; index += 2) {
      const x = at(line, index);
      const y = at(line, index + 1);
      if (x < west) west = x;
      if (x > east) east = x;
      if (y < south) south = y;
      if (y > north) north = y;
    }
  }
  return west <= east ? [west, south, east, north] : undefined;
}

export function unite(a: Bounds | undefined, b: Bounds | undefined): Bounds | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];
}
