import { getHexagonAreaAvg } from "h3-js";
import { chunksIn } from "../../../adapters/h3/chunks.ts";
import { cellPolygon } from "../../../adapters/h3/cell-polygon.ts";
import { ownerOfJob } from "../../../adapters/postgres/queries/catalogue-owners.ts";
import { saveH3Source, startH3Run } from "../../../adapters/postgres/repositories/h3.ts";
import type { RasterFile } from "../../../adapters/tiles/raster-file.ts";
import { Problem } from "../../../core/errors.ts";
import type { Bbox } from "../../../core/geometry/geometry.ts";
import type { H3Configuration } from "../../../core/h3/configuration.ts";
import { h3Configuration } from "../../../core/h3/configuration.ts";
import { apply } from "../../../core/serving/affine.ts";
import { toBounds } from "../../../core/serving/coverage.ts";
import { clipWindow } from "../../../core/zonal/cover-pixels.ts";
import { toPixelRings } from "../../../core/zonal/to-pixels.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { openPixels } from "../raster/open-pixels.ts";
import { requireDatabase } from "../require-database.ts";
import { chooseSource, findSources } from "./find-sources.ts";
import { ownName, readConfiguration, refuseTakenName, withoutNull } from "./new-run.ts";
import { openStored } from "./open-run.ts";
import { chunksOf, runIdOf } from "./record-run.ts";

interface Finding {
  readonly code: string;
  readonly message: string;
}

/** Handler h3_discover_raster: what is to be computed, frozen, and the chunks of the fan-out. */
export const discoverRaster = defineHandler("h3_discover_raster", async (params, context) => {
  const database = requireDatabase(context);
  const owner = await ownerOfJob(database, context.job_id);
  const raster = ownName(params.raster, owner);
  await refuseTakenName(database, raster, "raster");
  const { blob_path, collection_id, item_id } = params;
  const known = await chooseSource(database, raster, { blob_path, collection_id, item_id });
  const wanted = { ...known.configuration, ...withoutNull(params.configuration ?? {}) };
  const configuration = readConfiguration(h3Configuration, wanted);
  await saveH3Source(database, raster, known.source, wanted);
  const found = await findSources(database, known.source, owner);
  const findings: Finding[] = [];
  const runs = [];
  for (const each of found) {
    context.signal.throwIfAborted();
    const run = { raster, period: params.period ?? each.period, blob_path: each.blob_path };
    runs.push(await recordRaster(context, run, configuration, findings));
  }
  const chunks = runs.flatMap(({ run_id, cells }) => chunksOf(run_id, cells, configuration));
  const run_ids = runs.map(({ run_id }) => run_id);
  return { raster, run_ids, chunks, chunk_count: chunks.length, findings };
});

async function recordRaster(
  context: HandlerContext,
  { raster, period, blob_path }: { raster: string; period: string; blob_path: string },
  configuration: H3Configuration,
  findings: Finding[],
): Promise<{ readonly run_id: string; readonly cells: readonly string[] }> {
  const pixels = await openPixels(context, { blob_path, band: configuration.band });
  try {
    const { source, crs } = pixels;
    const identity = [raster, period, source.fingerprint, JSON.stringify(configuration)];
    const run_id = runIdOf(identity);
    const source_path = await storeSource(context, pixels, run_id);
    const cells = findChunks(pixels.raster, configuration);
    const own = judge(pixels.raster, configuration, cells.length, source.display);
    findings.push(...own);
    await startH3Run(requireDatabase(context), {
      run_id,
      kind: "raster",
      raster,
      period,
      origin: source.display,
      source_tag: source.fingerprint,
      source_path,
      wkt2: crs.wkt2,
      bbox: toBounds(pixels.raster.extent),
      configuration,
      findings: own,
      chunk_count: cells.length,
      job_id: context.job_id,
    });
    return { run_id, cells };
  } finally {
    await pixels.close();
  }
}

/** The path that the chunks read: the source itself, or a copy where it cannot be read in windows. */
async function storeSource(
  { storage, signal }: HandlerContext,
  { source, crs, file }: Awaited<ReturnType<typeof openPixels>>,
  runId: string,
): Promise<string> {
  const isStored = /^(bronze|silver|gold)\//.test(source.display);
  const direct = isStored && (await storage.head(source.display)) !== undefined;
  if (direct) {
    const opened = await openStored(storage, source.display, crs.wkt2).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      return undefined;
    });
    if (opened !== undefined) return source.display;
  }
  const path = `silver/h3_sources/${runId}.tif`;
  await storage.putFile(path, file, { signal });
  return path;
}

function findChunks(raster: RasterFile, { land_only, bbox }: H3Configuration): string[] {
  const [{ width, height }] = raster.levels;
  const { west, south, east, north } = raster.extent;
  const whole = { left: 0, top: 0, width, height };
  const boxes: Bbox[] = [[west, south, east, north], ...(bbox == null ? [] : [bbox])];
  return chunksIn(boxes, land_only).filter(
    (cell) => clipWindow(toPixelRings(cellPolygon(cell), raster) ?? [], whole) !== undefined,
  );
}

function judge(
  raster: RasterFile,
  { max_resolution, land_only }: H3Configuration,
  chunkCount: number,
  name: string,
): Finding[] {
  const findings: Finding[] = [];
  const [pixel, cell] = [pixelArea(raster), getHexagonAreaAvg(max_resolution, "m2")];
  if (pixel !== undefined && cell < pixel) {
    findings.push({
      code: "LEVEL_TOO_FINE",
      message: `A cell of resolution ${max_resolution} has ${(cell / 1e6).toPrecision(3)} km², a pixel of "${name}" ${(pixel / 1e6).toPrecision(3)} km²: neighbouring cells repeat one pixel.`,
    });
  }
  if (chunkCount === 0) {
    const where = land_only ? "land, as Natural Earth knows it" : "the box that was asked for";
    const message = `"${name}" covers no cell of ${where}: nothing is computed.`;
    findings.push({ code: "EMPTY_INTERSECTION", message });
  }
  return findings;
}

/** In square metres, at the middle of the raster. */
function pixelArea({ levels: [level], toCoordinates, toDegrees }: RasterFile): number | undefined {
  const [column, row] = [level.width / 2, level.height / 2];
  const place = (x: number, y: number) => toDegrees(...apply(toCoordinates, x, y));
  const [middle, beside, below] = [
    place(column, row),
    place(column + 1, row),
    place(column, row + 1),
  ];
  if (middle === undefined || beside === undefined || below === undefined) return undefined;
  const metres = 111_195;
  const across = metres * Math.cos((middle[1] * Math.PI) / 180);
  const [ax, ay] = [(beside[0] - middle[0]) * across, (beside[1] - middle[1]) * metres];
  const [bx, by] = [(below[0] - middle[0]) * across, (below[1] - middle[1]) * metres];
  return Math.abs(ax * by - ay * bx);
}
