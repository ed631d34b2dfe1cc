import { isSameCrs } from "./crs.ts";
import type { RasterCrs, Transform } from "./facts.ts";
import type { InspectedRaster } from "./inspected.ts";

interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface MosaicLayout {
  readonly frame: {
    readonly width: number;
    readonly height: number;
    readonly transform: Transform;
    readonly wkt2: string;
  };
  /** The place of each member, in their order. */
  readonly places: readonly Place[];
}

type Member = Pick<InspectedRaster, "width" | "height" | "crs" | "transform" | "bands">;
interface Placed extends Member {
  readonly crs: RasterCrs;
  readonly transform: Transform;
}

/** As a share of a pixel: rounding in files, not a shift. */
const tolerance = 0.01;

/**
 * Finds one grid for all members, or the reason why there is none. Pixels are put together and
 * never resampled.
 */
export function layOut(members: readonly Member[]): MosaicLayout | string {
  const placed = members.filter(isPlaced);
  const [first] = placed;
  if (first === undefined || placed.length < members.length) {
    return "one of them has no CRS or no grid.";
  }
  const [dx, , x0, , dy, y0] = first.transform;
  const places: Place[] = [];
  for (const [index, member] of placed.entries()) {
    const why = differenceOf(first, member);
    if (why !== undefined) return `number ${index + 1} differs from the first in ${why}.`;
    const [, , x, , , y] = member.transform;
    const [left, top] = [(x - x0) / dx, (y - y0) / dy];
    if (!isWhole(left) || !isWhole(top)) {
      return `number ${index + 1} does not lie on the grid of the first.`;
    }
    const { width, height } = member;
    places.push({ left: Math.round(left), top: Math.round(top), width, height });
  }
  const minLeft = Math.min(...places.map(({ left }) => left));
  const minTop = Math.min(...places.map(({ top }) => top));
  return {
    frame: {
      width: Math.max(...places.map(({ left, width }) => left + width)) - minLeft,
      height: Math.max(...places.map(({ top, height }) => top + height)) - minTop,
      transform: [dx, 0, x0 + minLeft * dx, 0, dy, y0 + minTop * dy],
      wkt2: first.crs.wkt2,
    },
    places: places.map((place) => ({
      ...place,
      left: place.left - minLeft,
      top: place.top - minTop,
    })),
  };
}

function isPlaced(member: Member): member is Placed {
  return member.crs !== null && member.transform !== null && member.transform[0] !== 0;
}

function isWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) <= tolerance;
}

function differenceOf(a: Placed, b: Placed): string | undefined {
  if (!isSameCrs(a.crs, b.crs)) return "its CRS";
  if (a.bands.length !== b.bands.length) return "its number of bands";
  if (a.bands.some(({ data_type }, index) => data_type !== b.bands[index]?.data_type)) {
    return "its data type";
  }
  const [dx, xSkew, , ySkew, dy] = b.transform;
  if (xSkew !== 0 || ySkew !== 0) return "being rotated";
  const isNear = (one: number, other: number) => Math.abs(one - other) <= 1e-6 * Math.abs(one);
  if (!isNear(a.transform[0], dx) || !isNear(a.transform[4], dy)) return "the size of its pixels";
  return undefined;
}
