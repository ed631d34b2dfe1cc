import path from "node:path";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

export interface OpenSource {
  /** What may be shown and logged. */
  readonly display: string;
  /** What GDAL opens. */
  readonly gdalPath: string;
  /** Another one whenever the content may be another. */
  readonly fingerprint: string;
  /** What GDAL must be told to open it through a virtual raster that names it. */
  readonly env: Readonly<Record<string, string>>;
}

interface Named {
  readonly blob_path: string;
  readonly container?: string | null | undefined;
}

/** For reading a part of it: over the network where it lies there. */
export async function openSource(context: HandlerContext, named: Named): Promise<OpenSource> {
  const source = await context.sources.resolve(named.blob_path, named.container ?? undefined);
  const head = await source.head();
  if (head === undefined) {
    throw new PermanentError(`There is no file at "${source.display}".`, {
      code: "SOURCE_NOT_FOUND",
    });
  }
  const gdalPath = await source.gdalPath();
  const isCurled = gdalPath.startsWith("/vsicurl/");
  return {
    display: source.display,
    gdalPath,
    fingerprint: `${source.display} ${head.bytes ?? 0} ${head.etag ?? ""}`,
    env: isCurled ? { CPL_VSIL_CURL_ALLOWED_FILENAME: gdalPath } : {},
  };
}

/** For reading all of it: as a file of this machine, fetched when it is elsewhere. */
export async function openLocalSource(
  context: HandlerContext,
  named: Named,
): Promise<OpenSource & { readonly file: string }> {
  const opened = await openSource(context, named);
  if (!opened.gdalPath.startsWith("/vsi")) return { ...opened, file: opened.gdalPath };
  const source = await context.sources.resolve(named.blob_path, named.container ?? undefined);
  const extension = path.extname(named.blob_path).replaceAll(/[^A-Za-z0-9.]/g, "");
  const file = path.join(context.workDir, `source${extension}`);
  await source.fetchTo(file, { signal: context.signal });
  return { ...opened, gdalPath: file, file, env: {} };
}
