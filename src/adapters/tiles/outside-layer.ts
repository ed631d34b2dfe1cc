import { Problem } from "../../core/errors.ts";
import type { Bounds } from "../../core/serving/layer.ts";
import type { Place } from "./raster-server.ts";

/** The answer to a point that the layer does not reach. */
export function outside({ lon, lat }: Place, bounds: Bounds): Problem {
  return new Problem(
    "OUTSIDE_LAYER",
    `${lon},${lat} is outside of the layer: it covers ${bounds.join(", ")}.`,
  );
}

/** For `catch`: throws every other error again. */
export function unlessOutside(error: unknown): undefined {
  if (!(error instanceof Problem) || error.code !== "OUTSIDE_LAYER") throw error;
}
