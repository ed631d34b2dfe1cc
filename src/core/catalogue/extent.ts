/**
 * The area and time that a collection covers, stored so that a batch of items can widen it without
 * reading the other items. Each box is cut at the meridian of Greenwich, and only the ends of the
 * two halves are kept: they give the shortest box either way round the world.
 */
import type { Box } from "../geometry/boxes.ts";
import type { Bbox } from "../geometry/geometry.ts";

export interface Coverage {
  /** The part west of Greenwich; null if there is none. */
  readonly western: readonly [west: number, east: number] | null;
  readonly eastern: readonly [west: number, east: number] | null;
  readonly south: number;
  readonly north: number;
  readonly start: string;
  readonly end: string;
}

export interface CoveredItem {
  readonly boxes: readonly Box[];
  readonly start: string;
  readonly end: string;
}

export function coverageOf({ boxes, start, end }: CoveredItem): Coverage {
  const half = (pieces: readonly (readonly [number, number])[]) =>
    pieces.length === 0
      ? null
      : ([
          Math.min(...pieces.map(([west]) => west)),
          Math.max(...pieces.map(([, east]) => east)),
        ] as const);
  return {
    western: half(boxes.filter((b) => b[0] < 0).map((b) => [b[0], Math.min(b[2], 0)])),
    eastern: half(boxes.filter((b) => b[2] >= 0).map((b) => [Math.max(b[0], 0), b[2]])),
    south: Math.min(...boxes.map((b) => b[1])),
    north: Math.max(...boxes.map((b) => b[3])),
    start,
    end,
  };
}

export function widen(a: Coverage | null, b: Coverage): Coverage {
  if (a === null) return b;
  return {
    western: join(a.western, b.western),
    eastern: join(a.eastern, b.eastern),
    south: Math.min(a.south, b.south),
    north: Math.max(a.north, b.north),
    start: Date.parse(a.start) <= Date.parse(b.start) ? a.start : b.start,
    end: Date.parse(a.end) >= Date.parse(b.end) ? a.end : b.end,
  };
}

function join<Half extends Coverage["western"]>(a: Half, b: Half): Half {
  if (a === null || b === null) return a ?? b;
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])] as unknown as Half;
}

/** Crosses the antimeridian only if items reach it from both sides. */
export function bboxOfCoverage({ western, eastern, south, north }: Coverage): Bbox {
  if (western === null || eastern === null) {
    const [west, east] = western ?? eastern ?? [-180, 180];
    return [west, south, east, north];
  }
  const back = western[0] === -180 && eastern[1] === 180 && eastern[0] > western[1];
  return back ? [eastern[0], south, western[1], north] : [western[0], south, eastern[1], north];
}
