/** Turns circular arcs into straight lines. */
import type { Line } from "./parts.ts";
import { at } from "./parts.ts";

/** Each line spans at most this angle, as GDAL and PostGIS do unless told otherwise. */
const step = (4 * Math.PI) / 180;

/**
 * Reads positions as a circular string: the first three are start, middle and end of an arc, and
 * each further two continue it. Start and end are kept exactly.
 */
export function linearise(controls: Line): Line {
  const positions: number[] = [at(controls, 0), at(controls, 1)];
  if (controls.length < 6) return controls;
  for (let index = 0; index + 5 < controls.length; index += 4) {
    addArc(positions, controls.subarray(index, index + 6));
  }
  return Float64Array.from(positions);
}

function addArc(positions: number[], arc: Line): void {
  const [x1, y1, x2, y2, x3, y3] = arc as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  // Start and end in one place mean a full circle with the middle opposite.
  const isCircle = x1 === x3 && y1 === y3;
  const centre = isCircle
    ? ([(x1 + x2) / 2, (y1 + y2) / 2] as const)
    : centreOf(x1, y1, x2, y2, x3, y3);
  if (centre === undefined) {
    positions.push(x2, y2, x3, y3);
    return;
  }
  const [cx, cy] = centre;
  const radius = Math.hypot(x1 - cx, y1 - cy);
  const from = Math.atan2(y1 - cy, x1 - cx);
  const isLeft = isCircle || (x2 - x1) * (y3 - y1) - (y2 - y1) * (x3 - x1) > 0;
  const turn = (to: number) => {
    const angle =
      ((((to - from) * (isLeft ? 1 : -1)) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI);
    return angle === 0 ? 2 * Math.PI : angle;
  };
  const sweep = isCircle ? 2 * Math.PI : turn(Math.atan2(y3 - cy, x3 - cx));
  const count = Math.max(2, Math.ceil(sweep / step - 1e-9));
  for (let index = 1; index < count; index++) {
    const angle = from + ((isLeft ? 1 : -1) * sweep * index) / count;
    positions.push(cx + radius * Math.cos(angle), cy + radius * Math.sin(angle));
  }
  positions.push(x3, y3);
}

/** Undefined: the three positions lie on a straight line. */
function centreOf(x1: number, y1: number, x2: number, y2: number, x3: number, y3: number) {
  // Relative to the first position: far from the origin the squares would lose digits.
  const [ax, ay, bx, by] = [x2 - x1, y2 - y1, x3 - x1, y3 - y1];
  const d = 2 * (ax * by - ay * bx);
  const size = Math.max(Math.abs(ax), Math.abs(ay), Math.abs(bx), Math.abs(by));
  if (Math.abs(d) <= 1e-12 * size * size) return undefined;
  const a = ax * ax + ay * ay;
  const b = bx * bx + by * by;
  return [x1 + (by * a - ay * b) / d, y1 + (ax * b - bx * a) / d] as const;
}
