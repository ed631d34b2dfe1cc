import path from "node:path";
import { PermanentError } from "../../errors.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { checkRasterFile } from "../../../adapters/files/check-raster-file.ts";
import type { InspectedFile } from "../../../core/handlers/files.ts";
import { nameCrs } from "../../../core/raster/crs.ts";
import { boundsOf } from "../../../core/raster/inspected.ts";
import { inspectRaster } from "../raster/inspect.ts";
import { openSource } from "../raster/open-source.ts";
import { RasterRejected } from "../raster/plan-source.ts";
import { fetchSources } from "../vector/fetch-source.ts";
import type { SourceLayer } from "../vector/open-layers.ts";
import { openSources } from "../vector/open-sources.ts";
import { drawLayer, drawRaster, tryToDraw } from "./draw.ts";

/** The layer of a file that has no names for layers is called after our copy of the file. */
const ourNames: ReadonlySet<string> = new Set(["source", "parquet"]);

interface Given {
  readonly blob_path: string;
  readonly container?: string | null | undefined;
}

/** A file that must be copied for its picture is no larger: people wait for it. */
const mostCopied = 2 * 1024 ** 3;
const mostShown = 20;

/** Inspects a file as it is; the workflows judge what can be made of it. */
export const inspectFile = defineHandler("inspect_file", async ({ kind, ...given }, context) => {
  const source = await context.sources.resolve(given.blob_path, given.container ?? undefined);
  const head = await source.head();
  const isCopied = kind === "vector" || (await source.localPath()) === undefined;
  if (isCopied && (head?.bytes ?? 0) > mostCopied) {
    throw new PermanentError(`"${source.display}" is too large to look into before a job does.`, {
      code: "FILE_TOO_LARGE",
    });
  }
  return kind === "raster" ? inspectPixels(context, given) : inspectLayers(context, given);
});

async function inspectPixels(context: HandlerContext, given: Given): Promise<InspectedFile> {
  const { file, display } = await openSource(context, { ...given, isServed: true });
  const inspection = await inspectRaster(context, file, { display, reads: false, samples: false });
  if (inspection.raster === undefined) throw new RasterRejected(display, inspection.findings);
  const { raster } = inspection;
  const { driver = "" } = await checkRasterFile(file);
  const { width, height, transform, bands, compression } = raster;
  return {
    kind: "raster",
    crs: raster.crs === null ? raster.localSystem : (raster.crs.code ?? raster.crs.name),
    bounds: transform === null ? null : boundsOf({ width, height, transform }),
    raster: {
      width,
      height,
      band_count: bands.length,
      data_type: bands[0]?.data_type ?? "unknown",
      nodata: bands[0]?.nodata ?? null,
      compression,
    },
    layers: [],
    layer_count: 0,
    thumbnail: await tryToDraw(context, () => drawRaster(context, { file, driver }, raster)),
  };
}

async function inspectLayers(context: HandlerContext, given: Given): Promise<InspectedFile> {
  const { container, ...named } = given;
  const file = { ...named, ...(container != null && { container }) };
  const { files } = await fetchSources(file, context);
  const { layers } = await openSources(files, {}, context);
  const [first] = layers;
  if (first === undefined) throw new Error("a source has a layer");
  return {
    kind: "vector",
    crs: crsOf(first.layer),
    bounds: null,
    raster: null,
    layers: layers.slice(0, mostShown).map(({ layer: each, source }) => ({
      name: ourNames.has(each.title) ? path.posix.parse(source.name).name : each.title,
      geometry_type: each.layer.geometryType,
      features: Number.isFinite(each.layer.featureCount) ? each.layer.featureCount : null,
      columns: each.layer.fields.length,
      crs: crsOf(each),
    })),
    layer_count: layers.length,
    thumbnail: await tryToDraw(context, () => drawLayer(first.context, first.layer)),
  };
}

function crsOf({ ownCrs, layer, format, hasDegreeColumns }: SourceLayer): string | null {
  const named = ownCrs ?? layer.crsWkt;
  if (named !== undefined) return nameCrs(named);
  return format.impliedCrs ?? (hasDegreeColumns ? "EPSG:4326" : null);
}
