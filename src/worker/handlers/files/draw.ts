/** Draws small pictures of files that nothing was made of yet, with GDAL in its sandbox. */
import { readFile } from "node:fs/promises";
import { GdalError, GdalTimeout } from "../../../adapters/gdal/gdal-error.ts";
import type { GdalProgram, GdalRunOptions } from "../../../adapters/gdal/gdal.ts";
import { encodeImage } from "../../../adapters/tiles/encode-image.ts";
import { noShape, paintShapes, pictureSize } from "../../../core/serving/paint-shapes.ts";
import type { InspectedFile } from "../../../core/handlers/files.ts";
import { dataBands } from "../../../core/raster/inspected.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { readSamples, summariseSample } from "../../../core/raster/sample.ts";
import { paint } from "../../../core/serving/paint.ts";
import type { Picture } from "../../../core/serving/paint.ts";
import { numberFeatures } from "../../../core/vector/number-features.ts";
import { readOgrinfo } from "../../../core/vector/read-ogrinfo.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { reading, temporaryFile } from "../raster/run-gdal.ts";
import type { RasterInput } from "../raster/run-gdal.ts";
import { runOptions } from "../vector/gdal-options.ts";
import type { SourceLayer } from "../vector/open-layers.ts";

type Thumbnail = NonNullable<InspectedFile["thumbnail"]>;

const longestSide = 256;
/** Of each program: a file that takes longer has its facts and no picture. */
const timeoutMs = 20_000;

/** Null: GDAL cannot draw the file, or not in time; its facts are worth showing without. */
export async function tryToDraw(
  context: HandlerContext,
  draw: () => Promise<Picture | undefined>,
): Promise<Thumbnail | null> {
  try {
    const picture = await draw();
    if (picture === undefined) return null;
    const { width, height } = picture;
    const bytes = Buffer.from(await encodeImage(picture, "webp"));
    return { media_type: "image/webp", width, height, base64: bytes.toString("base64") };
  } catch (error) {
    const isOfFile = error instanceof GdalTimeout || error instanceof GdalError;
    if (!isOfFile || context.signal.aborted) throw error;
    context.logger.warn(`no picture: ${error.message}`);
    return null;
  }
}

/** GDAL opens the ENVI file that it has written, and finds its header in the folder. */
const findsHeader = { GDAL_DISABLE_READDIR_ON_OPEN: "FALSE" };

export async function drawRaster(
  context: HandlerContext,
  input: RasterInput,
  raster: InspectedRaster,
): Promise<Picture> {
  const size = pictureSize(raster, Math.min(longestSide, Math.max(raster.width, raster.height)));
  const raw = temporaryFile(context, "picture.img");
  const bands = chooseBands(raster);
  const chosen = [...bands.map(String), "mask,1"].flatMap((band) => ["-b", band]);
  const args = [
    ...(raster.hasPalette ? ["-expand", "rgba"] : chosen),
    ...["-q", "-of", "ENVI", "-co", "INTERLEAVE=BSQ", "-ot", "Float32", "-r", "nearest"],
    // ENVI cannot hold every place on Earth, and the picture needs none.
    ...["-a_ullr", "0", "1", "1", "0", "-outsize", String(size.width), String(size.height)],
  ];
  const { workDir, signal } = context;
  const options = { ...reading(context, input, "ENVI"), workDir, signal, timeoutMs };
  await context.gdal.run("gdal_translate", [...args, input.file, raw], {
    ...options,
    env: findsHeader,
  });
  const pixels = size.width * size.height;
  const count = raster.hasPalette ? 4 : bands.length + 1;
  const values = readSamples(await readFile(raw), "float32", pixels, count);
  const colours = values.slice(0, -1).map((each) => Float32Array.from(each));
  const mask = Uint8Array.from({ length: pixels }, (_, index) =>
    (colours[0]?.[index] ?? Number.NaN) * 0 === 0 ? (values.at(-1)?.[index] ?? 0) : 0,
  );
  const rescale = isPlainImage(raster)
    ? undefined
    : colours.map((band) => rangeOf(band, (index) => mask[index] !== 0));
  const isGray = bands.length === 1 && !isPlainImage(raster);
  return paint(
    { ...size, bands: colours, mask },
    { ...(rescale && { rescale }), ...(isGray && { colormap_name: "viridis" as const }) },
  );
}

/** Red, green and blue by their names, otherwise the first three bands, otherwise the first. */
function chooseBands({ bands }: InspectedRaster): number[] {
  const named = ["red", "green", "blue"].map((name) =>
    bands.findIndex(({ color }) => color === name),
  );
  if (named.every((index) => index !== -1)) return named.map((index) => index + 1);
  return dataBands(bands).length >= 3 ? [1, 2, 3] : [1];
}

function isPlainImage({ bands, hasPalette }: InspectedRaster): boolean {
  return hasPalette || bands.every(({ data_type }) => data_type === "uint8");
}

function rangeOf(
  band: Float32Array,
  isValid: (index: number) => boolean,
): readonly [number, number] {
  const sample = summariseSample(band, null, isValid);
  if (sample === undefined) return [0, 1];
  const { percentile_2: low, percentile_98: high } = sample;
  return high > low ? [low, high] : [low - 1, low + 1];
}

/** Burns the numbers of the features into a grid over the whole layer; undefined: it is empty. */
export async function drawLayer(
  context: HandlerContext,
  source: SourceLayer,
): Promise<Picture | undefined> {
  const run = (program: GdalProgram, args: readonly string[], drivers: readonly string[]) => {
    const options: GdalRunOptions = { ...runOptions(context, drivers), timeoutMs };
    return context.gdal.run(program, args, {
      ...options,
      env: { ...options.env, ...findsHeader },
    });
  };
  const shapes = temporaryFile(context, "shapes.fgb");
  const copy = [
    ...["-f", "FlatGeobuf", "-lco", "SPATIAL_INDEX=NO", "-nln", "shapes", "-nlt", "GEOMETRY"],
    ...["-dim", "XY", "-skipfailures", ...source.openArgs, "-dialect", "OGRSQL"],
    ...["-sql", numberFeatures(source.layer.name), shapes, source.file],
  ];
  await run("ogr2ogr", copy, [...source.drivers, "FlatGeobuf"]);
  const { stdout } = await run("ogrinfo", ["-ro", "-so", "-al", shapes], ["FlatGeobuf"]);
  const extent = readOgrinfo(stdout)[0]?.extent;
  if (extent?.every(Number.isFinite) !== true) return undefined;
  const [west, south, east, north] = extent;
  // A single point, or points in a row, have an area too.
  const margin = Math.max(east - west, north - south) * 0.02 || 1e-6;
  const area = [west - margin, south - margin, east + margin, north + margin];
  const size = pictureSize(
    { width: east - west + 2 * margin, height: north - south + 2 * margin },
    longestSide,
  );
  const grid = temporaryFile(context, "picture.img");
  const burn = [
    ...["-q", "-l", "shapes", "-a", "id", "-at", "-init", String(noShape), "-ot", "Int32"],
    ...["-of", "ENVI", "-te", ...area.map(String)],
    ...["-ts", String(size.width), String(size.height), shapes, grid],
  ];
  await run("gdal_rasterize", burn, ["FlatGeobuf", "ENVI"]);
  const pixels = size.width * size.height;
  const [ids = []] = readSamples(await readFile(grid), "int32", pixels, 1);
  return paintShapes(ids, size.width, size.height);
}
