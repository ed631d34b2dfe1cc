import type { Affine } from "./affine.ts";
import type { DatumShift } from "../raster/proj-definition.ts";
import type { LayerStyle } from "./style.ts";

/** West, south, east, north in degrees. West > east: the layer crosses the antimeridian. */
export type Bounds = readonly [number, number, number, number];

interface Served {
  readonly title: string;
  readonly bounds: Bounds;
  readonly style: LayerStyle | null;
  /** Changes whenever the served content changes; a part of every ETag and cache key. */
  readonly version_tag: string;
}

export interface RasterLayer extends Served {
  readonly kind: "raster";
  /**
   * The file in storage that is shown: the web-mercator copy if there is one, otherwise the data.
   */
  readonly path: string;
  /** The file in storage that point, statistics and info read. */
  readonly data_path: string;
  /** What the web-mercator copy shows, and the style of the data that it corresponds to. */
  readonly copy?: { readonly shows: "picture" | "values"; readonly style: LayerStyle | null };
  /** The definition of the data's system, if the file does not define it completely. */
  readonly wkt2?: string | null;
  /** From the system's datum to WGS 84, in geocentric metres. */
  readonly datum_shift?: DatumShift | null;
  /** The grid of the data, if the catalogue has it. */
  readonly grid?: RasterGrid | undefined;
}

interface RasterGrid {
  readonly code: string | null;
  readonly width: number;
  readonly height: number;
  readonly transform: Affine;
}

/** Many rasters that are shown as one. */
export interface MosaicLayer extends Served {
  readonly kind: "mosaic";
  /** The uppermost raster first. */
  readonly members: readonly RasterLayer[];
  /**
   * The members from which the range of values is computed, the same for every tile, so that no
   * seams show.
   */
  readonly samples: readonly RasterLayer[];
}

export interface VectorLayer extends Served {
  readonly kind: "vector";
  readonly table: string;
}

/** Values by H3 cell, shown as vector tiles of hexagons. */
export interface HexagonLayer extends Served {
  readonly kind: "hexagons";
  readonly dataset: string;
  readonly period: string;
}

/**
 * A layer for the serving routes. Whether the caller may see it was decided before it was found.
 */
export type Layer = RasterLayer | MosaicLayer | VectorLayer | HexagonLayer;
