import type { RasterBand, RasterClass, RasterCrs, Transform } from "./facts.ts";

/** The facts that were read from a file before it is judged. */
export interface InspectedRaster {
  readonly driver: string;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  readonly crs: RasterCrs | null;
  /** The name of a system that has no place on the globe, such as that of a building site. */
  readonly localSystem: string | null;
  readonly transform: Transform | null;
  readonly gcpCount: number;
  /** True: fewer than three control points, or all in a row, which place no image. */
  readonly areGcpsOnLine: boolean;
  readonly hasRpc: boolean;
  /** Bits of a sample where they are fewer than its data type has, such as 12 of 16. */
  readonly sampleBits: number | null;
  /** Images in the file beside the first, such as pages of a TIFF, and what the file calls them. */
  readonly furtherImages: readonly string[];
  /** Names and colours of classes in a raster attribute table. */
  readonly classes: readonly RasterClass[];
  readonly bands: readonly RasterBand[];
  readonly hasPalette: boolean;
  readonly transparency: "none" | "nodata" | "alpha" | "mask";
  readonly overviews: readonly { readonly width: number; readonly height: number }[];
  readonly blockSize: readonly [number, number];
  readonly compression: string | null;
  readonly sampling: "area" | "point";
  readonly datetime: string | null;
  /** The first and the last time, where the bands are of several times. */
  readonly timeSpan: readonly [string, string] | null;
  /** Corners in longitude and latitude, as GDAL transforms them. */
  readonly wgs84Ring: readonly (readonly [number, number])[] | null;
  /** True: the file says that its values are numbers of a palette, and holds no palette. */
  readonly lacksPalette: boolean;
  readonly isCog: boolean;
  /** A COG without warnings: with the overviews that it needs, and tiled even if small. */
  readonly isWholeCog: boolean;
  /** GDAL's messages while every block was read. */
  readonly readErrors: readonly string[];
}

/** West, south, east, north of the four corners, also of a rotated raster. */
export function boundsOf({
  width,
  height,
  transform,
}: {
  readonly width: number;
  readonly height: number;
  readonly transform: Transform;
}): [number, number, number, number] {
  const corners = [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
  ].map(([column = 0, row = 0]) => place(transform, column, row));
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

export function place(transform: Transform, column: number, row: number): [number, number] {
  const [a, b, c, d, e, f] = transform;
  return [a * column + b * row + c, d * column + e * row + f];
}

/** The bands that hold data, without alpha, which only marks where data exist. */
export function dataBands(bands: readonly RasterBand[]): RasterBand[] {
  return bands.filter(({ color }) => color !== "alpha");
}
