/** Draws many rasters as one picture, and opens only those that reach into it. */
import { LRUCache } from "lru-cache";
import { invert } from "../../core/serving/affine.ts";
import { layOver } from "../../core/serving/paint.ts";
import type { Extent } from "../../core/serving/coverage.ts";
import { coveredParts, findExtent } from "../../core/serving/coverage.ts";
import type { RasterLayer } from "../../core/serving/layer.ts";
import type { Picture } from "../../core/serving/paint.ts";
import type { RenderOptions } from "../../core/serving/render-options.ts";
import type { Box } from "../../core/serving/web-mercator.ts";
import { makeProjection } from "./projection.ts";
import type { RasterFile } from "./raster-file.ts";
import type { RenderContext } from "./render.ts";
import { findRange, renderBox } from "./render.ts";

type Opener = () => Promise<RasterFile>;

/** Members are drawn from the uppermost down, until nothing shows through. */
export async function renderMosaic(
  {
    members,
    samples,
  }: { readonly members: readonly Opener[]; readonly samples: readonly Opener[] },
  box: Box,
  size: { readonly width: number; readonly height: number },
  options: RenderOptions,
  context: RenderContext,
): Promise<Picture | undefined> {
  const rescale = (await commonRange(samples, options, context)) ?? options.rescale;
  let picture: Picture | undefined;
  for (const open of members) {
    if (picture?.isOpaque === true) break;
    const raster = await open();
    picture = layOver(
      picture,
      await renderBox(raster, box, size, { ...options, rescale }, context),
    );
  }
  return picture;
}

/** One range for all members: ranges of their own would show a seam where two members meet. */
async function commonRange(
  samples: readonly Opener[],
  options: RenderOptions,
  context: RenderContext,
): Promise<[number, number][] | undefined> {
  let common: [number, number][] | undefined;
  for (const open of samples) {
    const range = await findRange(await open(), options, context);
    if (range === undefined) return undefined;
    common = (common ?? range).map(([low, high], band) => {
      const [otherLow, otherHigh] = range[band] ?? [low, high];
      return [Math.min(low, otherLow), Math.max(high, otherHigh)];
    });
  }
  return common;
}

/** Cached, because an extent projects eighty points and a tile needs those of all members. */
const mostExtents = 20_000;

/**
 * Tells whether a raster may cover a box, by its grid in the catalogue, so that a tile opens only
 * the files that it needs. A raster without a grid in the catalogue may cover any box.
 */
export function createMayCover(): (layer: RasterLayer, box: Box) => boolean {
  const extents = new LRUCache<string, { readonly extent: Extent | undefined }>({
    max: mostExtents,
  });
  return (layer, box) => {
    const key = `${layer.data_path}@${layer.version_tag}`;
    let found = extents.get(key);
    if (found === undefined) {
      found = { extent: extentOf(layer) };
      extents.set(key, found);
    }
    return found.extent === undefined || coveredParts(box, found.extent).length > 0;
  };
}

function extentOf({ grid, wkt2, datum_shift }: RasterLayer): Extent | undefined {
  const toPixels = grid && invert(grid.transform);
  if (grid === undefined || toPixels === undefined) return undefined;
  const { width, height, transform: toCoordinates } = grid;
  const code = /^EPSG:(\d+)$/.exec(grid.code ?? "")?.[1];
  try {
    const projection = makeProjection(
      code === undefined ? undefined : Number(code),
      wkt2 ?? undefined,
      datum_shift,
    );
    return findExtent({ width, height, toCoordinates, toPixels, ...projection });
  } catch {
    // `openRaster` reports what is wrong with the system.
    return undefined;
  }
}
