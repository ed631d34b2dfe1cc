/**
 * Judges where a raster lies: its CRS, its transform, and whether the resulting place is possible.
 */
import { isEarth, isSameCrs, meaningOf, verticalOf } from "./crs.ts";
import type { RasterCrs } from "./facts.ts";
import { makeFinding } from "./finding.ts";
import type { RasterFinding } from "./finding.ts";
import { boundsOf } from "./inspected.ts";
import type { InspectedRaster } from "./inspected.ts";

export function judgePlace(raster: InspectedRaster, given: RasterCrs | null): RasterFinding[] {
  const crs = raster.crs ?? given;
  return [
    ...(raster.localSystem !== null && given === null
      ? [makeFinding("CRS_LOCAL", `Its system "${raster.localSystem}" is a local one.`)]
      : judgeCrs(raster.crs, given)),
    ...judgeTransform(raster),
    ...(crs === null ? [] : judgeBounds(raster, crs)),
  ];
}

function judgeCrs(own: RasterCrs | null, given: RasterCrs | null): RasterFinding[] {
  const used = own ?? given;
  if (used === null) {
    return [makeFinding("CRS_MISSING", "The file does not say in which CRS its coordinates are.")];
  }
  const findings: RasterFinding[] = [];
  if (own === null) {
    const text = `The file names no CRS; the given one is used: ${labelOf(used)}.`;
    findings.push(makeFinding("CRS_OVERRIDE", text));
  } else if (given !== null && !isSameCrs(own, given)) {
    const text = `The file says ${labelOf(own)}, the submission says ${labelOf(given)}.`;
    findings.push(makeFinding("CRS_MISMATCH", text));
  }
  if (!isEarth(used)) {
    findings.push(makeFinding("CRS_NOT_EARTH", `${labelOf(used)} is not a CRS of the Earth.`));
  }
  const vertical = verticalOf(used.wkt2);
  if (vertical !== undefined) {
    const name = vertical.code === null ? vertical.name : `${vertical.code} (${vertical.name})`;
    findings.push(makeFinding("VERTICAL_DATUM", `Its heights are in ${name}.`));
  } else if (used.code === null) {
    const text = `The CRS "${used.name}" has no code of an authority.`;
    findings.push(makeFinding("CRS_WITHOUT_CODE", text));
  }
  return findings;
}

function labelOf({ code, name }: RasterCrs): string {
  return code === null ? `"${name}"` : `${code} (${name})`;
}

function judgeTransform(raster: InspectedRaster): RasterFinding[] {
  const { transform, gcpCount, areGcpsOnLine, hasRpc } = raster;
  if (transform === null || isIdentity(transform) || isFlat(transform)) {
    if (gcpCount > 0 && areGcpsOnLine && !hasRpc) {
      const text = `Its ${gcpCount} ground control points do not place it: three that are not in a row are needed.`;
      return [makeFinding("GCPS_TOO_FEW", text)];
    }
    if (gcpCount > 0 || hasRpc) {
      const by =
        gcpCount > 0 ? `${gcpCount} ground control points` : "RPC coefficients, at their height";
      return [makeFinding("GCPS_ONLY", `It is placed by ${by} and not by a grid.`)];
    }
    const text =
      "Nothing says where its pixels lie: it has no geotransform, control points or RPC.";
    return [makeFinding("GEOTRANSFORM_MISSING", text)];
  }
  const [, xSkew, , ySkew, yStep] = transform;
  if (xSkew !== 0 || ySkew !== 0) {
    return [makeFinding("NOT_NORTH_UP", "Its grid is rotated.")];
  }
  if (yStep > 0) {
    return [makeFinding("NOT_NORTH_UP", "Its first row is the southernmost.")];
  }
  return [];
}

function isIdentity([a, b, c, d, e, f]: readonly number[]): boolean {
  return a === 1 && b === 0 && c === 0 && d === 0 && Math.abs(e ?? 0) === 1 && f === 0;
}

/** Whether the pixels have no area. */
function isFlat([a = 0, b = 0, , d = 0, e = 0]: readonly number[]): boolean {
  return a * e - b * d === 0;
}

const oneDegree = Math.PI / 180;

/** Half of the Earth's circumference, where the widest projections end. */
const halfWay = 20_040_000;
/** The edge of a pixel may exceed the world by this share of the extent. */
const slack = 1e-3;

function judgeBounds(raster: InspectedRaster, crs: RasterCrs): RasterFinding[] {
  if (raster.transform === null) return [];
  const bounds = boundsOf({ ...raster, transform: raster.transform });
  const meaning = meaningOf(crs);
  if (meaning?.kind === "geographic") {
    const scale = meaning.unit / oneDegree;
    const [west, south, east, north] = bounds;
    const degrees = [west * scale, south * scale, east * scale, north * scale] as const;
    return judgeDegrees(degrees, Math.abs(raster.transform[4]) * scale);
  }
  const findings: RasterFinding[] = [];
  if (meaning?.kind === "projected") {
    const [west, south, east, north] = bounds.map((value) => value * meaning.unit);
    const isUtm =
      meaning.method === "transversemercator" && meaning.parameters.get("falseeasting") === 500_000;
    const isFar = [west, south, east, north].some((value = 0) => Math.abs(value) > halfWay);
    const isOff = isUtm && ((west ?? 0) < -1_000_000 || (east ?? 0) > 2_000_000);
    if (isFar || isOff) findings.push(suspicious(bounds));
  }
  if (crossesAntimeridian(raster.wgs84Ring)) findings.push(crossing());
  return findings;
}

/** A grid whose outermost pixels have their centres at the poles reaches beyond them. */
function judgeDegrees(
  bounds: readonly [number, number, number, number],
  pixelHeight: number,
): RasterFinding[] {
  const [west, south, east, north] = bounds;
  const over = slack * 360;
  const half = over + pixelHeight / 2;
  if (south < -90 - half || north > 90 + half) return [suspicious(bounds)];
  const isInside = west >= -180 - over && east <= 180 + over;
  if (isInside) return [];
  const isShifted = east - west <= 360 + over && west >= -360 && east <= 360 + over;
  return isShifted ? [crossing()] : [suspicious(bounds)];
}

function suspicious(bounds: readonly number[]): RasterFinding {
  const text = `Its bounds ${bounds.join(", ")} are not possible in its CRS.`;
  return makeFinding("SUSPICIOUS_BOUNDS", text);
}

function crossing(): RasterFinding {
  return makeFinding("CROSSES_ANTIMERIDIAN", "It reaches across 180° of longitude.");
}

/** Neighbouring corners more than half the world apart are joined across the antimeridian. */
function crossesAntimeridian(ring: InspectedRaster["wgs84Ring"]): boolean {
  if (ring === null) return false;
  return ring.some(([longitude], index) => {
    const next = ring[(index + 1) % ring.length];
    return next !== undefined && Math.abs(next[0] - longitude) > 180;
  });
}
