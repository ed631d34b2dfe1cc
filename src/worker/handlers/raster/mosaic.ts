import { writeFile } from "node:fs/promises";
import { toGdalType } from "../../../core/raster/data-type.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { layOut } from "../../../core/raster/lay-out.ts";
import { mosaicVrt } from "../../../core/raster/vrt.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { destinationOf } from "./destination.ts";
import { encode, prepare, sizeOf } from "./encode.ts";
import { finishCog } from "./finish-cog.ts";
import { inspectRaster } from "./inspect.ts";
import { RasterRejected, planSource } from "./plan-source.ts";
import { openSource } from "./open-source.ts";
import { rewriteSource } from "./rewrite-source.ts";
import { temporaryFile, threadsOf } from "./run-gdal.ts";

/** Handler raster_mosaic: rasters of one grid become one COG. */
export const mosaic = defineHandler("raster_mosaic", async (params, context) => {
  const members: { file: string; raster: InspectedRaster }[] = [];
  const paths = params.blob_paths ?? params.tiles?.map(({ blob_path }) => blob_path) ?? [];
  for (const blob_path of paths) {
    const { file, display } = await openSource(context, {
      blob_path,
      container: params.container,
    });
    const inspection = await inspectRaster(context, file, { display, reads: false });
    if (inspection.raster === undefined) throw new RasterRejected(display, inspection.findings);
    const { raster } = inspection;
    const ours = await rewriteSource(context, { file, driver: raster.driver }, raster);
    members.push({ file: ours.file, raster });
  }
  const merged = await merge(context, members);
  const planned = await planSource(context, merged, "the mosaic", params, { isOurs: true });
  const { raster, plan, profile, rasterType } = planned;
  const source = { file: merged, driver: "VRT" };
  const prepared = await prepare(context, source, planned, { forOnePiece: true });
  const output = temporaryFile(context, "output.tif");
  await encode(context, prepared, output, {
    plan,
    profile,
    threads: threadsOf(context),
    progress: [10, 90],
    size: await sizeOf(context, prepared, raster, plan),
    bands: raster.bands,
  });
  return finishCog(context, output, destinationOf(context, params, "mosaic.tif"), rasterType);
});

async function merge(
  context: HandlerContext,
  members: readonly { readonly file: string; readonly raster: InspectedRaster }[],
): Promise<string> {
  const layout = layOut(members.map(({ raster }) => raster));
  if (typeof layout === "string") {
    throw new PermanentError(`These rasters cannot be one: ${layout}`, {
      code: "MOSAIC_NOT_POSSIBLE",
    });
  }
  const [first] = members;
  const file = temporaryFile(context, "mosaic.vrt");
  const text = mosaicVrt({
    ...layout.frame,
    members: layout.places.map((place, index) => ({
      ...place,
      file: members[index]?.file ?? "",
    })),
    bands: (first?.raster.bands ?? []).map(({ data_type, color, nodata }) => ({
      type: toGdalType(data_type),
      color,
      nodata,
    })),
    hasMask: first?.raster.transparency === "mask",
  });
  await writeFile(file, text);
  return file;
}
