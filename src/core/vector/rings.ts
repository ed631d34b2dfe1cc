import type { Line, Parts, Polygon } from "./parts.ts";
import { at } from "./parts.ts";

/** Twice the area, positive when the ring runs counter-clockwise. */
export function signedArea(ring: Line): number {
  let sum = 0;
  // Relative to the first point: far from the origin the products would lose the digits that differ.
  const [x0 = 0, y0 = 0] = ring;
  for (let index = 0; index + 3 < ring.length; index += 2) {
    const x = at(ring, index) - x0;
    const y = at(ring, index + 1) - y0;
    sum += x * (at(ring, index + 3) - y0) - (at(ring, index + 2) - x0) * y;
  }
  return sum;
}

export function reversed(line: Line): Line {
  const turned = new Float64Array(line.length);
  for (let from = 0, to = line.length - 2; from < line.length; from += 2, to -= 2) {
    turned[to] = at(line, from);
    turned[to + 1] = at(line, from + 1);
  }
  return turned;
}

/** As RFC 7946 wants it: outer rings counter-clockwise, holes clockwise. The same object if it was. */
export function rewind(polygon: Polygon): Polygon {
  const rings = polygon.map((ring, index) => {
    const area = signedArea(ring);
    return area === 0 || area > 0 === (index === 0) ? ring : reversed(ring);
  });
  return rings.every((ring, index) => ring === polygon[index]) ? polygon : rings;
}

export function rewindAll(parts: Parts): { parts: Parts; isChanged: boolean } {
  const polygons = parts.polygons.map(rewind);
  const isChanged = polygons.some((polygon, index) => polygon !== parts.polygons[index]);
  return isChanged ? { parts: { ...parts, polygons }, isChanged } : { parts, isChanged };
}
