import { z } from "zod";
import type { RasterCrs, RasterType } from "./facts.ts";

/** analysis: every value as it is. visualization: made for looking at. archive: small, as it came. */
export const tier = z.enum(["analysis", "visualization", "archive"]);
export type Tier = z.infer<typeof tier>;

/** What whoever submits a raster may decide about how it is judged. */
export interface RasterPolicy {
  readonly tier: Tier;
  /** What the submission says that its CRS is. */
  readonly givenCrs: RasterCrs | null;
  readonly strict: boolean;
  readonly rasterType: RasterType | undefined;
  readonly allowDowncast: boolean;
  /** As empty as this is refused; 100 takes everything. */
  readonly maxNodataPercent: number;
  /** Overrides what the file declares. */
  readonly nodata: number | undefined;
}
