/** Unpacks the files of an archive that are loaded: those of a known format, with their sidecars. */
import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import { geodatabaseFile } from "../../../adapters/files/check-vector-file.ts";
import type { ZipArchive } from "../../../adapters/zip/open-zip.ts";
import { openZip } from "../../../adapters/zip/open-zip.ts";
import type { SourceFormat } from "../../../core/vector/source-format.ts";
import {
  endingOf,
  formatOf,
  isCsv,
  isShapefile,
  isTable,
  knownEndings,
} from "../../../core/vector/source-format.ts";
import { PermanentError } from "../../errors.ts";
import type { FetchedSource } from "./fetch-source.ts";

/** More files are refused; each takes several runs of GDAL. */
const mostFiles = 100;

export type UnpackedFile = Omit<FetchedSource, "received">;

export interface Unpacked {
  readonly files: readonly UnpackedFile[];
  /** The names of files of known formats that are not read. */
  readonly unread: readonly string[];
}

/** Each file gets a folder of its own below `folder`. `layer` names the only one that is wanted. */
export async function unpackArchive(
  archive: string,
  folder: string,
  { signal, layer }: { readonly signal: AbortSignal; readonly layer?: string | null | undefined },
): Promise<Unpacked> {
  const zip = await openZip(archive);
  try {
    const names = zip.entries.map((entry) => entry.name).filter(isData);
    const geodatabase = findGeodatabase(names);
    if (geodatabase !== undefined) {
      const files = [await unpackGeodatabase(zip, geodatabase, folder, signal)];
      return { files, unread: [] };
    }
    const { chosen, unread } = chooseFiles(names);
    const wanted = chosen.find(({ title }) => title === layer);
    const files: UnpackedFile[] = [];
    for (const [index, each] of (wanted === undefined ? chosen : [wanted]).entries()) {
      files.push(await unpackFile(zip, each, path.join(folder, String(index)), signal));
    }
    return { files, unread };
  } finally {
    zip.close();
  }
}

async function unpackGeodatabase(
  zip: ZipArchive,
  name: string,
  folder: string,
  signal: AbortSignal,
): Promise<UnpackedFile> {
  const written = await zip.extractTo(path.join(folder, "unpacked"), {
    signal,
    only: (entry) => isIn(name, entry.name),
  });
  const file = path.join(folder, "source.gdb");
  await mkdir(file);
  for (const each of written) await rename(each, path.join(file, path.basename(each)));
  const format = formatOf(file);
  if (format === undefined) throw new Error("a geodatabase is a known format");
  return { file, format, name };
}

async function unpackFile(
  zip: ZipArchive,
  { name, title, format }: ChosenFile,
  folder: string,
  signal: AbortSignal,
): Promise<UnpackedFile> {
  const wanted = new Set([endingOf(name), ...format.sidecars]);
  const base = withoutEnding(name);
  const written = await zip.extractTo(path.join(folder, "unpacked"), {
    signal,
    only: (entry) => withoutEnding(entry.name) === base && wanted.has(endingOf(entry.name)),
  });
  // Renamed to fixed names: those in an archive may hold any characters.
  const file = path.join(folder, `source${endingOf(name)}`);
  for (const each of written) await rename(each, path.join(folder, `source${endingOf(each)}`));
  return { file, format, name, title };
}

/** The only folder whose name ends in .gdb; undefined: there is none, or other data beside it. */
function findGeodatabase(names: readonly string[]): string | undefined {
  const folders = new Set(
    names.flatMap((name) => /^((?:.*\/)?[^/]+\.gdb)\/[^/]+$/i.exec(name)?.[1] ?? []),
  );
  const [folder, ...others] = folders;
  return others.length === 0 ? folder : undefined;
}

function isIn(folder: string, name: string): boolean {
  const file = name.startsWith(`${folder}/`) ? name.slice(folder.length + 1) : "";
  return geodatabaseFile.test(file);
}

interface ChosenFile {
  readonly name: string;
  /** Its name without folder and ending, by which `layer` chooses it. */
  readonly title: string;
  readonly format: SourceFormat;
}

/**
 * Chooses the files that are certainly data: a shapefile often comes with a list of its columns as CSV,
 * and any data with a description as JSON.
 */
function chooseFiles(names: readonly string[]): {
  readonly chosen: readonly ChosenFile[];
  readonly unread: readonly string[];
} {
  const known = names.flatMap((name) => {
    const format = formatOf(name);
    return format === undefined ? [] : [{ name, format }];
  });
  const shapefiles = known.filter(({ format }) => isShapefile(format));
  const bases = new Set(shapefiles.map(({ name }) => withoutEnding(name)));
  const others = known.filter(({ name }) => !bases.has(withoutEnding(name)));
  const isTabular = ({ format }: { format: SourceFormat }) => isCsv(format) || isTable(format);
  const isData = (each: { name: string; format: SourceFormat }) =>
    !isTabular(each) && endingOf(each.name) !== ".json";
  const ranks = [
    shapefiles,
    others.filter(isData),
    others.filter(({ name }) => endingOf(name) === ".json"),
    others.filter(isTabular),
  ];
  const chosen = ranks.find(({ length }) => length > 0);
  if (chosen === undefined) {
    throw new PermanentError(
      `The archive holds no file of a known format. Formats are recognised by their extension: ${knownEndings.join(", ")}.`,
      { code: "UNSUPPORTED_FORMAT" },
    );
  }
  if (chosen.length > mostFiles) {
    throw new PermanentError(
      `The archive holds ${chosen.length} files with layers, and one job loads at most ${mostFiles}: send several archives.`,
      { code: "ARCHIVE_AMBIGUOUS" },
    );
  }
  const read = new Set(chosen.map(({ name }) => name));
  return {
    chosen: nameFiles(chosen),
    unread: [...shapefiles, ...others].flatMap(({ name }) => (read.has(name) ? [] : [name])),
  };
}

/** Files of one name in several folders are told apart by their folders, or by their endings. */
function nameFiles(files: readonly Omit<ChosenFile, "title">[]): ChosenFile[] {
  const isUnique = (title: string, titleOf: (name: string) => string) =>
    files.filter(({ name }) => titleOf(name) === title).length === 1;
  const short = (name: string) => path.posix.basename(withoutEnding(name));
  return files.map(({ name, format }) => {
    const title =
      [short, withoutEnding]
        .map((titleOf) => [titleOf(name), titleOf] as const)
        .find(([each, titleOf]) => isUnique(each, titleOf))?.[0] ?? name;
    return { name, format, title };
  });
}

/** False for the files that macOS and other systems add to archives. */
function isData(name: string): boolean {
  return !name.startsWith("__MACOSX/") && !path.basename(name).startsWith(".");
}

function withoutEnding(name: string): string {
  return name.slice(0, name.length - endingOf(name).length);
}
