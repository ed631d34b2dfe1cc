/** The area of a ring within one pixel, by clipping it with the pixel's four sides: slow and plain. */
export function clipArea(ring: ArrayLike<number>, column: number, row: number): number {
  let points: [number, number][] = [];
  for (let index = 0; index < ring.length; index += 2) {
    points.push([(ring[index] ?? 0) - column, (ring[index + 1] ?? 0) - row]);
  }
  for (const axis of [0, 1] as const) {
    for (const [limit, sign] of [
      [0, 1],
      [1, -1],
    ] as const) {
      points = points.flatMap((to, index) => {
        const from = points.at(index - 1) ?? to;
        const [a, b] = [sign * (from[axis] - limit), sign * (to[axis] - limit)];
        const made: [number, number][] = [];
        if (a < 0 !== b < 0) {
          const share = a / (a - b);
          made.push([
            axis === 0 ? limit : from[0] + share * (to[0] - from[0]),
            axis === 1 ? limit : from[1] + share * (to[1] - from[1]),
          ]);
        }
        if (b >= 0) made.push(to);
        return made;
      });
    }
  }
  return ringArea(points.flat());
}

/** Negative for an outer ring in pixels, as `orientRing` turns it. */
export function ringArea(ring: ArrayLike<number>): number {
  let twice = 0;
  for (let index = 0; index < ring.length; index += 2) {
    const next = (index + 2) % ring.length;
    twice +=
      (ring[index] ?? 0) * (ring[next + 1] ?? 0) - (ring[next] ?? 0) * (ring[index + 1] ?? 0);
  }
  return twice / 2;
}
