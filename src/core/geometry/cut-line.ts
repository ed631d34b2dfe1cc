/** Cuts straight lines in longitude and latitude along polygons. */

/** Positions one after the other: x0, y0, x1, y1 …; the last is the first again. */
export type FlatRing = ArrayLike<number>;

/** In degrees, about a micrometre: a point that is nearer to an edge lies on it. */
const near = 1e-11;

/**
 * The pieces of a line that lie in a polygon, as shares of the line: from, to, from, to … A piece that
 * runs along an edge of the polygon counts if `alongEdges` and both have the same direction: so, of two
 * polygons that share an edge, it is counted once.
 */
export function piecesInside(
  [ax, ay, bx, by]: readonly [number, number, number, number],
  rings: readonly FlatRing[],
  { alongEdges, nearEdges = rings }: { alongEdges: boolean; nearEdges?: readonly FlatRing[] },
): number[] {
  const [dx, dy] = [bx - ax, by - ay];
  const length2 = dx * dx + dy * dy;
  if (length2 === 0) return [];
  const cuts = [0, 1];
  for (const ring of nearEdges) {
    for (let at = 0; at + 3 < ring.length; at += 2) {
      addCuts(cuts, [ax, ay, dx, dy, length2], ring, at);
    }
  }
  cuts.sort((one, other) => one - other);
  const pieces: number[] = [];
  for (let index = 1; index < cuts.length; index++) {
    const [from = 0, to = 0] = [cuts[index - 1], cuts[index]];
    if ((to - from) ** 2 * length2 < near * near) continue;
    const middle = (from + to) / 2;
    const side = sideOf(ax + middle * dx, ay + middle * dy, dx, dy, rings);
    if (side !== "inside" && !(side === "along" && alongEdges)) continue;
    if (pieces.at(-1) === from) pieces[pieces.length - 1] = to;
    else pieces.push(from, to);
  }
  return pieces;
}

function addCuts(
  cuts: number[],
  [ax, ay, dx, dy, length2]: readonly [number, number, number, number, number],
  ring: FlatRing,
  at: number,
): void {
  const [cx = 0, cy = 0, ex = 0, ey = 0] = [ring[at], ring[at + 1], ring[at + 2], ring[at + 3]];
  const [sx, sy] = [ex - cx, ey - cy];
  const [px, py] = [cx - ax, cy - ay];
  const cross = dx * sy - dy * sx;
  const add = (share: number) => {
    if (share > 0 && share < 1) cuts.push(share);
  };
  if (cross * cross > 1e-24 * length2 * (sx * sx + sy * sy)) {
    const along = (px * dy - py * dx) / cross;
    if (along >= -1e-12 && along <= 1 + 1e-12) add((px * sy - py * sx) / cross);
  } else if ((px * dy - py * dx) ** 2 <= near * near * length2) {
    add((px * dx + py * dy) / length2);
    add(((ex - ax) * dx + (ey - ay) * dy) / length2);
  }
}

type Side = "inside" | "outside" | "along" | "against";

/** Where a point lies; on an edge, whether a line through it has the edge's direction. */
function sideOf(x: number, y: number, dx: number, dy: number, rings: readonly FlatRing[]): Side {
  let isInside = false;
  for (const ring of rings) {
    for (let at = 0; at + 3 < ring.length; at += 2) {
      const [cx = 0, cy = 0, ex = 0, ey = 0] = [ring[at], ring[at + 1], ring[at + 2], ring[at + 3]];
      if (cy > y + near && ey > y + near) continue;
      if (cy < y - near && ey < y - near) continue;
      const [sx, sy] = [ex - cx, ey - cy];
      const length2 = sx * sx + sy * sy;
      const along = length2 === 0 ? 0 : ((x - cx) * sx + (y - cy) * sy) / length2;
      if (along >= 0 && along <= 1) {
        const [ox, oy] = [cx + along * sx - x, cy + along * sy - y];
        if (ox * ox + oy * oy <= near * near && length2 > 0) {
          return sx * dx + sy * dy > 0 ? "along" : "against";
        }
      }
      if (cy > y !== ey > y && x < cx + ((y - cy) / sy) * sx) isInside = !isInside;
    }
  }
  return isInside ? "inside" : "outside";
}

export function isInside(x: number, y: number, rings: readonly FlatRing[]): boolean {
  return sideOf(x, y, 1, 0, rings) === "inside";
}

/** Twice the area in square degrees, positive if counterclockwise. */
export function turnOf(ring: FlatRing): number {
  let sum = 0;
  for (let at = 0; at + 3 < ring.length; at += 2) {
    const [cx = 0, cy = 0, ex = 0, ey = 0] = [ring[at], ring[at + 1], ring[at + 2], ring[at + 3]];
    sum += cx * ey - ex * cy;
  }
  return sum;
}
