/**
 * The shift from a system's datum to WGS 84, measured at one place: GDAL knows the transformations of
 * every datum, and the server that draws tiles does not. At other places of the same raster it is off
 * by a metre or less.
 */
import type { DatumShift } from "../raster/proj-definition.ts";

type Degrees = readonly [longitude: number, latitude: number];
interface Figure {
  readonly semiMajorAxis: number;
  readonly inverseFlattening: number;
}

const wgs84: Figure = { semiMajorAxis: 6_378_137, inverseFlattening: 298.257_223_563 };
/** A centimetre. */
const sameDegrees = 1e-7;
/** A shift below this many metres is rounding, or a difference that no map shows. */
const least = 0.5;

/** Null: the datums agree there. `own` is the place on the system's own datum. */
export function measureShift(own: Degrees, figure: Figure, onWgs84: Degrees): DatumShift | null {
  // Without a known transformation PROJ keeps the degrees, also of a sphere.
  const turn = 360 * Math.round((own[0] - onWgs84[0]) / 360);
  if (Math.abs(own[0] - turn - onWgs84[0]) + Math.abs(own[1] - onWgs84[1]) < sameDegrees) {
    return null;
  }
  const [x, y, z] = toGeocentric(own, figure);
  const [tx, ty, tz] = toGeocentric(onWgs84, wgs84);
  const shift: DatumShift = [round(tx - x), round(ty - y), round(tz - z)];
  const isWhole = shift.every(Number.isFinite);
  return isWhole && Math.hypot(...shift) >= least ? shift : null;
}

function toGeocentric([longitude, latitude]: Degrees, figure: Figure): [number, number, number] {
  const flattening = figure.inverseFlattening > 0 ? 1 / figure.inverseFlattening : 0;
  const squared = flattening * (2 - flattening);
  const [lambda, phi] = [(longitude * Math.PI) / 180, (latitude * Math.PI) / 180];
  const normal = figure.semiMajorAxis / Math.sqrt(1 - squared * Math.sin(phi) ** 2);
  return [
    normal * Math.cos(phi) * Math.cos(lambda),
    normal * Math.cos(phi) * Math.sin(lambda),
    normal * (1 - squared) * Math.sin(phi),
  ];
}

function round(metres: number): number {
  return Math.round(metres * 1e4) / 1e4;
}
