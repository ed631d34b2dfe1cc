import type { RasterBand, RasterCrs, Transform } from "./facts.ts";

/** The facts that were read from a file before it is judged. */
export interface InspectedRaster {
  readonly driver: string;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  readonly crs: RasterCrs | null;
  readonly transform: Transform | null;
  readonly gcpCount: number;
  readonly hasRpc: boolean;
  readonly bands: readonly RasterBand[];
  readonly hasPalette: boolean;
  readonly transparency: "none" | "nodata" | "alpha" | "mask";
  readonly overviews: readonly { readonly width: number; readonly height: number }[];
  readonly blockSize: readonly [number, number];
  readonly compression: string | null;
  readonly sampling: "area" | "point";
  readonly datetime: string | null;
  /** Corners in longitude and latitude, as GDAL transforms them. */
  readonly wgs84Ring: readonly (readonly [number, number])[] | null;
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
