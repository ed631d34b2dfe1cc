/**
 * Maps pixels to coordinates: x = a·column + b·row + c, y = d·column + e·row + f. The centre of
 * pixel (0, 0) is (0.5, 0.5).
 */
export type Affine = readonly [number, number, number, number, number, number];

export function apply([a, b, c, d, e, f]: Affine, column: number, row: number): [number, number] {
  return [a * column + b * row + c, d * column + e * row + f];
}

/** Undefined: the pixels have no area. */
export function invert([a, b, c, d, e, f]: Affine): Affine | undefined {
  const area = a * e - b * d;
  if (!Number.isFinite(1 / area)) return undefined;
  return [e / area, -b / area, (b * f - c * e) / area, -d / area, a / area, (c * d - a * f) / area];
}
