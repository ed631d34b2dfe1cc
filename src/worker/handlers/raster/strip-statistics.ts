/**
 * Takes the statistics out that a file claims about itself: an empty file may claim good ones, and
 * GDAL would believe them and copy them to its output.
 */
import { chmod, constants, copyFile, mkdtemp, open, stat } from "node:fs/promises";
import path from "node:path";
import { findStatistics } from "../../../adapters/cog/find-statistics.ts";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { ignoreMissing } from "../../../adapters/runtime/error-code.ts";
import type { HandlerContext } from "../../define-handler.ts";

/** Answers the file itself where it claims none, otherwise a copy without them. */
export async function withoutStatistics(
  { workDir }: Pick<HandlerContext, "workDir">,
  file: string,
): Promise<string> {
  const claims = await findStatistics(file);
  if (claims.length === 0) return file;
  const folder = await mkdtemp(path.join(workDir, "plain-"));
  await ensureSpace(folder, (await stat(file)).size);
  const copy = path.join(folder, "source.raster");
  await copyFile(file, copy, constants.COPYFILE_FICLONE);
  await chmod(copy, 0o600);
  if (file.startsWith(workDir + path.sep)) {
    const world = path.join(path.dirname(file), "source.wld");
    await copyFile(world, path.join(folder, "source.wld")).catch(ignoreMissing);
  }
  await blankStatistics(copy);
  return copy;
}

/** Overwrites them with spaces in a file of the task: the places of all other bytes stay. */
export async function blankStatistics(file: string): Promise<void> {
  const claims = await findStatistics(file);
  if (claims.length === 0) return;
  const handle = await open(file, "r+");
  try {
    for (const { at, bytes } of claims) await handle.write(Buffer.alloc(bytes, " "), 0, bytes, at);
  } finally {
    await handle.close();
  }
}
