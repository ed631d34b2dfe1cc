/**
 * A query for the numbers and geometries of a layer's features, without their attributes. In GDAL's own
 * dialect FID is the number of a feature, and its geometry comes with it.
 */
export function numberFeatures(layer: string): string {
  return `SELECT FID AS id FROM "${layer.replaceAll(/["\\]/g, "\\$&")}"`;
}
