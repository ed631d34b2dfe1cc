/** Fetches the source and its sidecar files into the task's folder, under fixed names. */
import { chmod, constants, copyFile, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import type { Source } from "../../../adapters/storage/source.ts";
import { endingOf, formatOf, isArchive, knownEndings } from "../../../core/vector/source-format.ts";
import { unreadFilesFinding } from "../../../core/vector/findings.ts";
import type { VectorFinding } from "../../../core/vector/findings.ts";
import type { RawKind } from "../../../core/vector/raw-values.ts";
import type { SourceFormat } from "../../../core/vector/source-format.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { checkSource } from "./check-source.ts";
import { ofFile } from "./refuse-file.ts";
import { unpackArchive } from "./unpack-archive.ts";

export interface SourceFile {
  readonly file: string;
  readonly format: SourceFormat;
  /** The only driver that may open it. */
  readonly drivers: readonly [string];
  /** The sender's name of the file; names the table where `table_name` is not given. */
  readonly name: string;
  /** Its own name in an archive, by which `layer` chooses it. */
  readonly title?: string | undefined;
  /** The submitted files, the source itself first: an archive is one file, a shapefile several. */
  readonly received: readonly string[];
  /** What was changed before GDAL reads it. */
  readonly findings: readonly VectorFinding[];
  /** How many documents a file of JSON lines has. */
  readonly lines?: number | undefined;
  /** Its JSON has positions with more than two numbers. */
  readonly hasHeights?: boolean | undefined;
  readonly bytes: number;
  /** Columns that stay text, because a number among their values has more than 64 bits. */
  readonly textColumns?: ReadonlySet<string> | undefined;
  /** Members of JSON with integers of more than 53 bits. */
  readonly longKeys?: ReadonlySet<string> | undefined;
  /** Columns that GDAL reads in another type, so that it rounds nothing. */
  readonly rawColumns?: ReadonlyMap<string, RawKind> | undefined;
}

/** A source that was fetched and is not checked yet. */
export type FetchedSource = Omit<
  SourceFile,
  "drivers" | "findings" | "lines" | "hasHeights" | "bytes" | "textColumns" | "longKeys"
>;

interface NamedSource {
  readonly blob_path: string;
  readonly container?: string | undefined;
}

/** The workflow's default container applies to paths, not to addresses. */
function containerOf({ blob_path, container }: NamedSource): string | undefined {
  return blob_path.startsWith("https://") ? undefined : container;
}

export function resolveSource(
  named: NamedSource,
  { sources }: HandlerContext,
): ReturnType<HandlerContext["sources"]["resolve"]> {
  return sources.resolve(named.blob_path, containerOf(named));
}

/** A copy that only the task reads need not survive a crash, so that no file of this machine is synced. */
async function copyTo(source: Source, file: string, { signal }: HandlerContext): Promise<void> {
  const local = (await source.head()) === undefined ? undefined : await source.localPath();
  if (local === undefined) {
    // Also where there is no such file: the error says so.
    await source.fetchTo(file, { signal });
    return;
  }
  await copyFile(local, file, constants.COPYFILE_FICLONE);
  await chmod(file, 0o600);
}

interface GivenSource extends NamedSource {
  readonly encoding?: string | null | undefined;
  readonly layer?: string | null | undefined;
}

/** Answers the only file of a submission, or the file that `layer` names. */
export async function fetchSource(
  named: GivenSource,
  context: HandlerContext,
): Promise<SourceFile> {
  const { files } = await fetchSources(named, context);
  const [source] = files;
  if (source !== undefined && files.length === 1) return source;
  const titles = files.map(({ name, title = name }) => title);
  throw new PermanentError(
    `The archive holds several files: ${titles.slice(0, 10).join(", ")}. Say which one with "layer", or send it in an archive of its own.`,
    { code: "ARCHIVE_AMBIGUOUS", details: { layers: titles } },
  );
}

/** The layer that is wanted in this file; none where its name in the archive was meant. */
export function layerIn(
  { title }: Pick<SourceFile, "title">,
  layer: string | null | undefined,
): string | undefined {
  return layer === title ? undefined : (layer ?? undefined);
}

export interface FetchedFiles {
  readonly files: readonly SourceFile[];
  /** About the archive; each file has its own. */
  readonly findings: readonly VectorFinding[];
}

/** Fetches the file, or the files of an archive. */
export async function fetchSources(
  named: GivenSource,
  context: HandlerContext,
): Promise<FetchedFiles> {
  const { blob_path } = named;
  const container = containerOf(named);
  const folder = path.join(context.workDir, "source");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const ending = endingOf(blob_path);
  const source = await resolveSource(named, context);
  const options = { signal: context.signal };
  await ensureSpace(context.workDir, (await source.head())?.bytes ?? 0);
  if (isArchive(blob_path)) {
    const archive = path.join(context.workDir, "source.zip");
    await copyTo(source, archive, context);
    const { layer } = named;
    const { files, unread } = await unpackArchive(archive, folder, { ...options, layer });
    const checked: SourceFile[] = [];
    for (const each of files) {
      try {
        checked.push(await checkSource({ ...each, received: [archive] }, named, context));
      } catch (error) {
        throw ofFile(files.length === 1 ? undefined : each.title, error);
      }
    }
    return { files: checked, findings: unreadFilesFinding(unread) };
  }
  const format = formatOf(blob_path);
  if (format === undefined) {
    throw new PermanentError(
      `"${source.display}" ends in ${ending === "" ? "nothing" : `"${ending}"`}. Formats are recognised by their extension: ${knownEndings.join(", ")}.`,
      { code: "UNSUPPORTED_FORMAT" },
    );
  }
  const file = path.join(folder, `source${ending}`);
  await copyTo(source, file, context);
  const received = [file];
  for (const sidecar of format.sidecars) {
    for (const spelling of [sidecar, sidecar.toUpperCase()]) {
      const beside = blob_path.slice(0, -ending.length) + spelling;
      const found = await context.sources.resolve(beside, container);
      if ((await found.head()) === undefined) continue;
      const fetched = path.join(folder, `source${sidecar}`);
      await copyTo(found, fetched, context);
      received.push(fetched);
      break;
    }
  }
  const checked = await checkSource({ file, format, name: blob_path, received }, named, context);
  return { files: [checked], findings: [] };
}
