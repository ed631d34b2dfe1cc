/** Fetches the source and its sidecar files into the task's folder, under fixed names. */
import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { looksLike, endingOf, formatOf, knownEndings } from "../../../core/vector/source-format.ts";
import type { SourceFormat } from "../../../core/vector/source-format.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { unpackArchive } from "./unpack-archive.ts";

export interface SourceFile {
  readonly file: string;
  readonly format: SourceFormat;
  /** The sender's name of the file; names the table where `table_name` is not given. */
  readonly name: string;
  /** The submitted files, the source itself first: an archive is one file, a shapefile several. */
  readonly received: readonly string[];
}

export async function fetchSource(
  named: { blob_path: string; container?: string | undefined },
  context: HandlerContext,
): Promise<SourceFile> {
  const { blob_path } = named;
  // The workflow's default container applies to paths, not to addresses.
  const container = blob_path.startsWith("https://") ? undefined : named.container;
  const folder = path.join(context.workDir, "source");
  await mkdir(folder, { recursive: true });
  const ending = endingOf(blob_path);
  const source = await context.sources.resolve(blob_path, container);
  const options = { signal: context.signal };
  await ensureSpace(context.workDir, (await source.head())?.bytes ?? 0);
  if (ending === ".zip") {
    const archive = path.join(context.workDir, "source.zip");
    await source.fetchTo(archive, options);
    const unpacked = await unpackArchive(archive, folder, options);
    return checkSignature({ ...unpacked, received: [archive] });
  }
  const format = formatOf(blob_path);
  if (format === undefined) {
    throw new PermanentError(
      `"${source.display}" ends in ${ending === "" ? "nothing" : `"${ending}"`}. Formats are recognised by their extension: ${knownEndings.join(", ")}.`,
      { code: "UNSUPPORTED_FORMAT" },
    );
  }
  const file = path.join(folder, `source${ending}`);
  await source.fetchTo(file, options);
  const received = [file];
  for (const sidecar of format.sidecars) {
    for (const spelling of [sidecar, sidecar.toUpperCase()]) {
      const beside = blob_path.slice(0, -ending.length) + spelling;
      const found = await context.sources.resolve(beside, container);
      if ((await found.head()) === undefined) continue;
      const fetched = path.join(folder, `source${sidecar}`);
      await found.fetchTo(fetched, options);
      received.push(fetched);
      break;
    }
  }
  return checkSignature({ file, format, name: blob_path, received });
}

const signatureBytes = 4096;

/**
 * Refuses a file whose first bytes do not fit its extension. GDAL chooses its driver by the
 * content, and the content of a renamed file may name other files to read.
 */
async function checkSignature(source: SourceFile): Promise<SourceFile> {
  const handle = await open(source.file);
  try {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(signatureBytes),
      0,
      signatureBytes,
      0,
    );
    if (bytesRead === 0)
      throw new PermanentError("The file is empty: send it again.", { code: "FILE_EMPTY" });
    if (looksLike(source.format, buffer.subarray(0, bytesRead))) return source;
  } finally {
    await handle.close();
  }
  throw new PermanentError(
    `The file's extension says ${source.format.name}, and its content is not: save it again, or correct its extension.`,
    { code: "INVALID_FORMAT" },
  );
}
