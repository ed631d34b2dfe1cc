/** Many rasters as one picture: only those that reach into it are opened, until nothing shows through. */
import { layOver } from "../../core/serving/paint.ts";
import type { Picture } from "../../core/serving/paint.ts";
import type { RenderOptions } from "../../core/serving/render-options.ts";
import type { Box } from "../../core/serving/web-mercator.ts";
import type { RasterFile } from "./raster-file.ts";
import type { RenderContext } from "./render.ts";
import { findRange, renderBox } from "./render.ts";

type Opener = () => Promise<RasterFile>;

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

/** From the lowest to the highest of all; each by itself would show a seam where they meet. */
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
