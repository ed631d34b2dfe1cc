import type { Affine } from "./affine.ts";
import type { LayerStyle } from "./style.ts";

/** West, south, east, north in degrees. West > east: the layer crosses the antimeridian. */
export type Bounds = readonly [number, number, number, number];

interface Served {
  readonly title: string;
  readonly bounds: Bounds;
  readonly style: LayerStyle | null;
  /** Changes whenever what is served changes. Part of every ETag and of every cache's key. */
  readonly version_tag: string;
}

export interface RasterLayer extends Served {
  readonly kind: "raster";
  /** In storage: what is shown, the web-mercator copy if there is one, and otherwise the data. */
  readonly path: string;
  /** In storage: what point, statistics and info read. */
  readonly data_path: string;
  /** Of the data, when its file names a system that only this text explains. */
  readonly wkt2?: string | null;
  /** Where the data lie, if the catalogue says so. */
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
  /** The uppermost first. */
  readonly members: readonly RasterLayer[];
  /** Those that say in which range values are shown: the same for every tile, so that no seams show. */
  readonly samples: readonly RasterLayer[];
}

export interface VectorLayer extends Served {
  readonly kind: "vector";
  readonly table: string;
}

/** What the serving routes show; who may see it was decided by whoever found it. */
export type Layer = RasterLayer | MosaicLayer | VectorLayer;
