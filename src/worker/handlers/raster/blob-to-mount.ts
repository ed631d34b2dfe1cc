import { mkdir } from "node:fs/promises";
import path from "node:path";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { hashFile } from "../hash-content.ts";
import { ownFolder } from "./destination.ts";

/** Handler raster.blob_to_mount: copies a source to the worker's mount and checksums the copy. */
export const blobToMount = defineHandler("raster.blob_to_mount", async (params, context) => {
  const source = await context.sources.resolve(params.blob_path, params.container ?? undefined);
  const head = await source.head();
  if (head === undefined) {
    throw new PermanentError(`There is no file at "${source.display}".`, {
      code: "SOURCE_NOT_FOUND",
    });
  }
  const local_path = placeOnMount(context, params.mount_path ?? undefined, params.blob_path);
  await mkdir(path.dirname(local_path), { recursive: true });
  await ensureSpace(path.dirname(local_path), head.bytes ?? 0);
  const { bytes } = await source.fetchTo(local_path, {
    signal: context.signal,
    onProgress: (fraction) => {
      context.progress(95 * fraction);
    },
  });
  const checksum = await hashFile(local_path, context.signal);
  return { local_path, file_size_mb: bytes / 1024 / 1024, checksum };
});

/**
 * The path of the copy. A parameter that leads out of the mount, by `..` or an absolute path, is
 * refused.
 */
function placeOnMount(context: HandlerContext, wanted: string | undefined, blob: string): string {
  const relative = wanted ?? `${ownFolder(context)}/${path.posix.basename(blob)}`;
  const whole = path.resolve(context.mountDir, relative);
  if (whole.startsWith(context.mountDir + path.sep)) return whole;
  throw new PermanentError(`"${relative}" is not below the worker's mount.`, {
    code: "MOUNT_PATH_NOT_ALLOWED",
  });
}
