/** Brings the file and what belongs to it into the task's folder, under names of our own. */
import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { looksLike, endingOf, formatOf, knownEndings } from "../../../core/vector/source-format.ts";
import type { SourceFormat } from "../../../core/vector/source-format.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { refuse } from "./refuse.ts";
import { unpackArchive } from "./unpack-archive.ts";

export interface SourceFile {
  readonly file: string;
  readonly format: SourceFormat;
  /** As the sender calls it, for a table that nobody named. */
  readonly name: string;
  /** As they were handed in, the file itself first: an archive is one, a shapefile several. */
  readonly received: readonly string[];
}

export async function fetchSource(
  named: { blob_path: string; container?: string | undefined },
  context: HandlerContext,
): Promise<SourceFile> {
  const { blob_path } = named;
  // The workflow's default container is for paths: an address does not lie in it.
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
    throw refuse(
      "UNSUPPORTED_FORMAT",
      `"${source.display}" ends in ${ending === "" ? "nothing" : `"${ending}"`}. Formats are known by their ending: ${knownEndings.join(", ")}.`,
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

/** The driver follows the bytes and not the name: they must not be a description of other files. */
async function checkSignature(source: SourceFile): Promise<SourceFile> {
  const handle = await open(source.file);
  try {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(signatureBytes),
      0,
      signatureBytes,
      0,
    );
    if (bytesRead === 0) throw refuse("FILE_EMPTY", "The file is empty: send it again.");
    if (looksLike(source.format, buffer.subarray(0, bytesRead))) return source;
  } finally {
    await handle.close();
  }
  throw refuse(
    "INVALID_FORMAT",
    `The file is called ${source.format.name} and its content is not: save it again, or give it its right ending.`,
  );
}
