export interface Point {
  readonly x: number;
  readonly y: number;
}

const radius = 8;

/** The path of an SVG line through the points, with round corners. */
export function routePath(points: readonly Point[]): string {
  return points
    .map((point, at) => {
      const [before, after] = [points[at - 1], points[at + 1]];
      if (before === undefined) return `M ${point.x} ${point.y}`;
      if (after === undefined) return `L ${point.x} ${point.y}`;
      const [from, to] = [towards(point, before), towards(point, after)];
      return `L ${from.x} ${from.y} Q ${point.x} ${point.y} ${to.x} ${to.y}`;
    })
    .join(" ");
}

/** The point where the corner begins: not beyond the middle of the line to the other point. */
function towards(corner: Point, other: Point): Point {
  const [dx, dy] = [other.x - corner.x, other.y - corner.y];
  const length = Math.hypot(dx, dy);
  if (length === 0) return corner;
  const share = Math.min(radius, length / 2) / length;
  return { x: corner.x + dx * share, y: corner.y + dy * share };
}
