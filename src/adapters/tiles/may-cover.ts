import { invert } from "../../core/serving/affine.ts";
import type { Extent } from "../../core/serving/coverage.ts";
import { coveredParts, findExtent } from "../../core/serving/coverage.ts";
import type { RasterLayer } from "../../core/serving/layer.ts";
import type { Box } from "../../core/serving/web-mercator.ts";
import { createLru } from "./lru.ts";
import { makeProjection } from "./projection.ts";

/** Eighty points are projected for each, and a tile asks about all members of its mosaic. */
const mostKept = 20_000;

/**
 * Whether a raster may have something there, by what the catalogue says of its place: of many files
 * only those are opened that a tile needs. Where the catalogue does not say it, the file does.
 */
export function createMayCover(): (layer: RasterLayer, box: Box) => boolean {
  const kept = createLru<{ readonly extent: Extent | undefined }>(mostKept, () => 1);
  return (layer, box) => {
    const key = `${layer.data_path}@${layer.version_tag}`;
    let found = kept.get(key);
    if (found === undefined) {
      found = { extent: extentOf(layer) };
      kept.set(key, found);
    }
    return found.extent === undefined || coveredParts(box, found.extent).length > 0;
  };
}

function extentOf({ grid, wkt2 }: RasterLayer): Extent | undefined {
  const toPixels = grid && invert(grid.transform);
  if (grid === undefined || toPixels === undefined) return undefined;
  const { width, height, transform: toCoordinates } = grid;
  const code = /^EPSG:(\d+)$/.exec(grid.code ?? "")?.[1];
  try {
    const projection = makeProjection(
      code === undefined ? undefined : Number(code),
      wkt2 ?? undefined,
    );
    return findExtent({ width, height, toCoordinates, toPixels, ...projection });
  } catch {
    // What is wrong with it is said when it is opened.
    return undefined;
  }
}
