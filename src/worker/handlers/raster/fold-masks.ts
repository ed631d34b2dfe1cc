/**
 * Writes a raster whose bands have masks or nodata values of their own as one with a single nodata
 * value, so that every later step respects them.
 */
import { readFile, writeFile } from "node:fs/promises";
import { TiffError, withFile } from "../../../adapters/cog/byte-source.ts";
import { readTiffStructure } from "../../../adapters/cog/read-tiff-structure.ts";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import { makeFinding } from "../../../core/raster/finding.ts";
import {
  bandMaskVrt,
  chooseEmptyValue,
  foldVrt,
  hasMaskOfEachBand,
} from "../../../core/raster/fold-masks.ts";
import { parseGdalInfo } from "../../../core/raster/parse-info.ts";
import { maskedVrt } from "../../../core/raster/vrt.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { plainBytes, plainOptions, rewriteSource } from "./rewrite-source.ts";
import { describeGrid, reading, runGdal, temporaryFile } from "./run-gdal.ts";
import type { RasterInput, Unpacked } from "./run-gdal.ts";

type Grid = Awaited<ReturnType<typeof describeGrid>>;

/** Undefined: its bands are empty at the same places, or in the same way. */
export async function foldMasks(
  context: HandlerContext,
  source: RasterInput,
): Promise<Unpacked | undefined> {
  const grid = await findDifferingBands(context, source);
  const [first] = grid?.bands ?? [];
  if (grid === undefined || first === undefined) return undefined;
  const { bands } = grid;
  await ensureSpace(context.workDir, 3 * plainBytes(bands) * grid.width * grid.height);
  const plain = await rewriteSource(context, source, grid);
  const masks = temporaryFile(context, "masks.tif");
  const chosen = bands.flatMap((_, index) => ["-b", `mask,${index + 1}`]);
  const args = ["-q", "-of", "GTiff", "-ot", "Byte", "-mask", "none", "-a_nodata", "none"];
  await runGdal(
    context,
    "gdal_translate",
    [...args, ...chosen, ...plainOptions, source.file, masks],
    reading(context, source, "GTiff"),
  );
  const masked = temporaryFile(context, "masked.vrt");
  const types = bands.map(({ data_type }) => data_type);
  await writeFile(masked, bandMaskVrt(grid, types, { bands: plain.file, masks }));
  const ranges = await findRanges(context, masked, grid);
  const empty = chooseEmptyValue(first.data_type, ranges);
  if (empty === undefined) return undefined;
  const described = temporaryFile(context, "bands.vrt");
  const toVirtual = ["-q", "-of", "VRT", plain.file, described];
  await runGdal(context, "gdal_translate", toVirtual, reading(context, plain, "VRT"));
  const virtual = temporaryFile(context, "folded.vrt");
  await writeFile(virtual, foldVrt(await readFile(described, "utf8"), masked, empty));
  const file = temporaryFile(context, "folded.tif");
  const input = { file: virtual, driver: "VRT" };
  const toFile = ["-q", "-of", "GTiff", ...plainOptions, virtual, file];
  await runGdal(context, "gdal_translate", toFile, reading(context, input, "GTiff"));
  const kept = empty.type === first.data_type ? "" : `, stored as ${empty.type}`;
  const text = `Its ${bands.length} bands are empty at different places: their empty pixels have the value ${empty.nodata}${kept}, which no other pixel has.`;
  return { file, findings: [makeFinding("BANDS_EMPTY_APART", text)] };
}

/** GDAL is asked about formats other than TIFF only where bands can have their own nodata value. */
async function findDifferingBands(
  context: HandlerContext,
  source: RasterInput,
): Promise<Grid | undefined> {
  if (source.driver === "GTiff") {
    if (!(await hasMasks(source.file))) return undefined;
    return describeGrid(context, source).catch(unlessUnreadable);
  }
  if (source.driver !== "HFA") return undefined;
  const grid = await describeGrid(context, source).catch(unlessUnreadable);
  const [first] = grid?.bands ?? [];
  return grid?.bands.some(({ nodata }) => nodata !== first?.nodata) === true ? grid : undefined;
}

async function hasMasks(file: string): Promise<boolean> {
  try {
    return await withFile(file, async (source) =>
      hasMaskOfEachBand(await readTiffStructure(source)),
    );
  } catch (error) {
    // The checks of its structure refuse it with their reason.
    if (error instanceof TiffError) return false;
    throw error;
  }
}

/** The inspection that follows says what is wrong with the file. */
export function unlessUnreadable(error: unknown): undefined {
  if (!(error instanceof GdalError) || error.category === "transient") throw error;
}

/** Smallest and largest values of the pixels that have data; a band without any has no range. */
async function findRanges(
  context: HandlerContext,
  masked: string,
  grid: Grid,
): Promise<(readonly [number, number])[]> {
  if (grid.bands[0]?.data_type.startsWith("float") === true) return [];
  const file = temporaryFile(context, "ranges.vrt");
  await writeFile(file, maskedVrt(masked, grid, grid.bands.length));
  const options = reading(context, { file, driver: "VRT" });
  const { stdout } = await runGdal(context, "gdalinfo", ["-json", "-stats", file], options);
  return (parseGdalInfo(stdout)?.bands ?? []).flatMap(({ statistics }) =>
    statistics === null ? [] : [[statistics.minimum, statistics.maximum] as const],
  );
}
