import path from "node:path";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

export interface OpenSource {
  /** The source's name for messages and logs, without credentials or signatures. */
  readonly display: string;
  /** The path or /vsi address that GDAL opens. */
  readonly gdalPath: string;
  /** Changes whenever the content may have changed: name, size and ETag. */
  readonly fingerprint: string;
  /** GDAL options without which a virtual raster may not read this source. */
  readonly env: Readonly<Record<string, string>>;
}

interface SourceParams {
  readonly blob_path: string;
  readonly container?: string | null | undefined;
}

/** Opens a source of which a part is read: a remote file is read over the network. */
export async function openSource(
  context: HandlerContext,
  params: SourceParams,
): Promise<OpenSource> {
  const source = await context.sources.resolve(params.blob_path, params.container ?? undefined);
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

/** Opens a source that is read whole: a remote file is fetched to the task's folder first. */
export async function openLocalSource(
  context: HandlerContext,
  params: SourceParams,
): Promise<OpenSource & { readonly file: string }> {
  const opened = await openSource(context, params);
  if (!opened.gdalPath.startsWith("/vsi")) return { ...opened, file: opened.gdalPath };
  const source = await context.sources.resolve(params.blob_path, params.container ?? undefined);
  const extension = path.extname(params.blob_path).replaceAll(/[^A-Za-z0-9.]/g, "");
  const file = path.join(context.workDir, `source${extension}`);
  await source.fetchTo(file, { signal: context.signal });
  return { ...opened, gdalPath: file, file, env: {} };
}
