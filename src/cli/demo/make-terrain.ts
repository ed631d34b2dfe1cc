/**
 * A landscape that nobody surveyed: hills on hills, each half as wide and half as high, cut by a lake.
 * The same every time, so that two runs of the demo can be compared.
 */
export interface Terrain {
  readonly width: number;
  readonly height: number;
  /** Metres above the sea. */
  readonly heights: Float32Array;
}

const octaves = 6;
const lakeLevel = 420;
const highest = 3600;

export function makeTerrain(width: number, height: number): Terrain {
  const heights = new Float32Array(width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const value = hills((4 * column) / width, (4 * row) / width);
      const metres = 150 + highest * Math.max(0, value - 0.18) ** 1.6;
      heights[row * width + column] = Math.max(lakeLevel, metres);
    }
  }
  return { width, height, heights };
}

function hills(x: number, y: number): number {
  let sum = 0;
  for (let octave = 0; octave < octaves; octave++) {
    const frequency = 2 ** octave;
    const value = smooth(x * frequency + 17 * octave, y * frequency + 31 * octave);
    // Folded once: ridges where plain noise has round tops.
    sum += (1 - Math.abs(2 * value - 1)) * 0.5 ** (octave + 1);
  }
  return sum;
}

/** Random values on a grid, and a smooth surface through them. */
function smooth(x: number, y: number): number {
  const [column, row] = [Math.floor(x), Math.floor(y)];
  const [shareX, shareY] = [ease(x - column), ease(y - row)];
  const top = mix(scatter(column, row), scatter(column + 1, row), shareX);
  const bottom = mix(scatter(column, row + 1), scatter(column + 1, row + 1), shareX);
  return mix(top, bottom, shareY);
}

/** From 0 to 1, without any pattern that an eye can see. */
function scatter(column: number, row: number): number {
  let bits = Math.imul(column, 0x27d4eb2d) ^ Math.imul(row, 0x165667b1);
  bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d);
  bits = Math.imul(bits ^ (bits >>> 12), 0x297a2d39);
  return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32;
}

function ease(share: number): number {
  return share * share * share * (share * (6 * share - 15) + 10);
}

function mix(from: number, to: number, share: number): number {
  return from + share * (to - from);
}
