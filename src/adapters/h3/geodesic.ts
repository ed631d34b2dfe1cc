/** Lengths and areas on the ellipsoid of WGS 84, by the algorithms of GeographicLib; never planar. */
import geodesic from "geographiclib-geodesic";

const { WGS84, DISTANCE, AREA } = geodesic.Geodesic;

/** Half of the ellipsoid's surface, in square metres. */
const hemisphere = 510_065_621_724_088.44 / 2;

/** In metres. */
export function geodesicLength(lon1: number, lat1: number, lon2: number, lat2: number): number {
  return WGS84.Inverse(lat1, lon1, lat2, lon2, DISTANCE).s12 ?? 0;
}

/**
 * The area between an edge and the equator in square metres, negative to the east in the north: the sum
 * over the edges of an area that are walked counterclockwise is its area. An edge may run along a pole.
 */
export function areaBesideEdge(lon1: number, lat1: number, lon2: number, lat2: number): number {
  if (Math.abs(lat1) === 90 && lat1 === lat2) {
    return (-Math.sign(lat1) * (lon2 - lon1) * hemisphere) / 360;
  }
  return -(WGS84.Inverse(lat1, lon1, lat2, lon2, AREA).S12 ?? 0);
}
