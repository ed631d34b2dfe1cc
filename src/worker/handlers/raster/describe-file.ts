/**
 * GDAL's descriptions of files in storage, kept by the worker: the nodes of a job describe the same
 * file one after the other, and a start of GDAL takes a tenth of a second.
 */
import { stat } from "node:fs/promises";
import path from "node:path";
import type { Gdal } from "../../../adapters/gdal/gdal.ts";
import { systemClock } from "../../../adapters/runtime/clock.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { reading, runGdal } from "./run-gdal.ts";
import type { RasterInput } from "./run-gdal.ts";

const mostKept = 32;
const longestKept = 256 * 1024;
const keptBy = new WeakMap<Gdal, Map<string, string>>();

/** What `gdalinfo` prints of a file. `now`: milliseconds since 1970. */
export async function describeFile(
  context: HandlerContext,
  input: RasterInput,
  now = systemClock.now().getTime(),
): Promise<string> {
  const kept = keptBy.get(context.gdal) ?? new Map<string, string>();
  keptBy.set(context.gdal, kept);
  const identity = await identify(context, input, now);
  const known = identity === undefined ? undefined : kept.get(identity);
  if (known !== undefined) return known;
  const args = ["-json", "-noct", input.file];
  const { stdout } = await runGdal(context, "gdalinfo", args, reading(context, input));
  const isSame = identity !== undefined && (await identify(context, input, now)) === identity;
  if (isSame && stdout.length <= longestKept) {
    const [oldest] = kept.keys();
    if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
    kept.set(identity, stdout);
  }
  return stdout;
}

/** Changes within one tick of the file system's clock have the same time. */
const tickMs = 1000;

/**
 * The file and the time of its last change. Undefined for files of the task, which no other task reads,
 * and for one that was changed a moment ago, whose next change might not show.
 */
async function identify(
  { workDir }: HandlerContext,
  { file, driver }: RasterInput,
  now: number,
): Promise<string | undefined> {
  if (file.startsWith(workDir + path.sep)) return undefined;
  const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = await stat(file, { bigint: true });
  if (now - Number(ctimeMs) < tickMs) return undefined;
  return [dev, ino, size, mtimeNs, ctimeNs, driver, file].join(" ");
}
