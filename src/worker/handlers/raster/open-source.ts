/**
 * Opens a source as a file on this machine. GDAL reads nothing over the network and nothing beside
 * the file: a world file is read here, and its numbers are written into a file of the task.
 */
import { constants, copyFile, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { checkRasterFile } from "../../../adapters/files/check-raster-file.ts";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { readWorldFile } from "../../../core/files/judge-sidecar.ts";
import type { Source } from "../../../adapters/storage/source.ts";
import type { DataType } from "../../../core/raster/facts.ts";
import { makeFinding } from "../../../core/raster/finding.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { dropNodata } from "./drop-nodata.ts";
import { foldMasks } from "./fold-masks.ts";
import { RasterRejected } from "./plan-source.ts";
import { temporaryFile } from "./run-gdal.ts";
import type { Unpacked } from "./run-gdal.ts";
import { unpackSource, unpackZarr } from "./unpack-source.ts";
import { widenSignedBytes } from "./widen-signed-bytes.ts";
import { withoutStatistics } from "./strip-statistics.ts";

export interface OpenSource {
  /** The source's name for messages and logs, without credentials or signatures. */
  readonly display: string;
  /** Without statistics that the file claims about itself, so that GDAL computes them. */
  readonly file: string;
  /** What was done to open it. */
  readonly findings: readonly RasterFinding[];
  /** The same bytes as the source has; `file` itself where nothing was taken out. */
  readonly original: string;
  /** The type of the source's samples, where they were widened. */
  readonly sampleType?: DataType | undefined;
  /** Changes whenever the content may have changed: name, size and ETag. */
  readonly fingerprint: string;
}

interface SourceParams {
  readonly blob_path: string;
  readonly container?: string | null | undefined;
  /** Of a file of many grids. */
  readonly variable?: string | null | undefined;
  /** True: the stored file is served as it is, and is described as it is. */
  readonly isServed?: boolean;
}

export async function openSource(
  context: HandlerContext,
  params: SourceParams,
): Promise<OpenSource> {
  const container = params.container ?? undefined;
  const source = await context.sources.resolve(params.blob_path, container);
  const head = await source.head();
  if (head === undefined) {
    const folder = source.kind === "storage" ? await fetchZarr(context, source.display) : undefined;
    const wanted = params.variable ?? undefined;
    const unpacked =
      folder === undefined ? undefined : await unpackZarr(context, folder, source.display, wanted);
    if (unpacked !== undefined) {
      const { file, findings } = unpacked;
      // A folder has no bytes of its own: the raster that was made of it stands for it.
      return { display: source.display, file, findings, original: file, fingerprint: "" };
    }
    throw new PermanentError(`There is no file at "${source.display}".`, {
      code: "SOURCE_NOT_FOUND",
    });
  }
  const world = source.kind === "https" ? undefined : await findWorldFile(context, params);
  const original = await toLocalFile(context, source, head.bytes ?? 0, world);
  const wanted = params.variable ?? undefined;
  const opened =
    (await unpackSource(context, original, source.display, wanted)) ??
    (await openPlain(context, original, params.isServed ?? false));
  return {
    display: source.display,
    ...opened,
    original,
    fingerprint: `${source.display} ${head.bytes ?? 0} ${head.etag ?? ""}`,
  };
}

async function openPlain(
  context: HandlerContext,
  original: string,
  isServed: boolean,
): Promise<Unpacked> {
  const file = await withoutStatistics(context, original);
  if (isServed) return { file, findings: [] };
  const { driver, problem } = await checkRasterFile(file);
  // A file that will be refused is not opened.
  const isOpen = driver !== undefined && problem === undefined;
  if (!isOpen) return { file, findings: [] };
  const widened = await widenSignedBytes(context, { file, driver });
  const plain = widened === undefined ? { file, driver } : { file: widened.file, driver: "GTiff" };
  const masked = (await foldMasks(context, plain)) ?? (await dropNodata(context, plain));
  const findings = [...(widened?.findings ?? []), ...(masked?.findings ?? [])];
  return { file: masked?.file ?? plain.file, findings, sampleType: widened?.sampleType };
}

const mostZarrFiles = 20_000;

/** Copies a folder of Zarr from storage into the task's folder; undefined: there is none. */
async function fetchZarr(
  { storage, workDir, signal }: HandlerContext,
  name: string,
): Promise<string | undefined> {
  if (!/\.zarr\/?$/i.test(name)) return undefined;
  const prefix = `${name.replace(/\/$/, "")}/`;
  const folder = await mkdtemp(path.join(workDir, "zarr-"));
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await storage.list(prefix, {
      limit: 1000,
      ...(cursor === undefined ? {} : { cursor }),
    });
    count += page.items.length;
    if (count > mostZarrFiles) {
      const text = `It has more than ${mostZarrFiles} files.`;
      throw new RasterRejected(name, [makeFinding("TOO_MANY_LAYERS", text)]);
    }
    await ensureSpace(
      folder,
      page.items.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    for (const item of page.items) {
      const file = path.join(folder, "source.zarr", item.path.slice(prefix.length));
      await mkdir(path.dirname(file), { recursive: true });
      await storage.getFile(item.path, file, { signal });
    }
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return count === 0 ? undefined : path.join(folder, "source.zarr");
}

/** The name of a fetched copy says nothing: the content decides which driver may open it. */
const copyName = "source.raster";

async function toLocalFile(
  context: HandlerContext,
  source: Source,
  bytes: number,
  world: readonly number[] | undefined,
): Promise<string> {
  const local = await source.localPath();
  if (local !== undefined && world === undefined) return local;
  const folder = await mkdtemp(path.join(context.workDir, "source-"));
  const file = path.join(folder, copyName);
  await ensureSpace(folder, bytes);
  if (local === undefined) await source.fetchTo(file, { signal: context.signal });
  else await copyFile(local, file, constants.COPYFILE_FICLONE);
  if (world !== undefined) await writeFile(path.join(folder, "source.wld"), world.join("\n"));
  return file;
}

/** `a.tif` may have `a.tfw`, `a.tifw` or `a.wld` beside it. */
async function findWorldFile(
  context: HandlerContext,
  { blob_path, container }: SourceParams,
): Promise<readonly number[] | undefined> {
  const { ext } = path.posix.parse(blob_path);
  const letters = ext.slice(1);
  if (!/^[A-Za-z0-9]{2,5}$/.test(letters)) return undefined;
  const short = `${letters.at(0) ?? ""}${letters.at(-1) ?? ""}w`;
  const stem = blob_path.slice(0, -ext.length);
  for (const ending of new Set([short, `${letters}w`, "wld"])) {
    const name = `${stem}.${ending}`;
    const source = await context.sources.resolve(name, container ?? undefined);
    const head = await source.head();
    if (head === undefined) continue;
    return readNumbers(context, source, head.bytes ?? 0);
  }
  return undefined;
}

const longestWorldFile = 4096;

async function readNumbers(
  context: HandlerContext,
  source: Source,
  bytes: number,
): Promise<readonly number[]> {
  const file = temporaryFile(context, "world.txt");
  if (bytes <= longestWorldFile) {
    await source.fetchTo(file, { signal: context.signal });
    const numbers = readWorldFile(await readFile(file, "latin1"));
    if (numbers !== undefined) return numbers;
  }
  const text = `"${source.display}" is no world file of six numbers.`;
  throw new RasterRejected(source.display, [makeFinding("SIDECAR_INVALID", text)]);
}
