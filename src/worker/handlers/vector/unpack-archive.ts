/**
 * Unpacks an archive that holds one layer: one file of a known format, or one shapefile with its
 * sidecars.
 */
import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import { geodatabaseFile } from "../../../adapters/files/check-vector-file.ts";
import { openZip } from "../../../adapters/zip/open-zip.ts";
import {
  endingOf,
  formatOf,
  isShapefile,
  knownEndings,
} from "../../../core/vector/source-format.ts";
import { PermanentError } from "../../errors.ts";
import type { FetchedSource } from "./fetch-source.ts";

export async function unpackArchive(
  archive: string,
  folder: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<Omit<FetchedSource, "received">> {
  const zip = await openZip(archive);
  try {
    const names = zip.entries.map((entry) => entry.name).filter(isData);
    const geodatabase = findGeodatabase(names);
    if (geodatabase !== undefined) {
      const written = await zip.extractTo(path.join(folder, "unpacked"), {
        signal,
        only: ({ name }) => isIn(geodatabase, name),
      });
      const file = path.join(folder, "source.gdb");
      await mkdir(file);
      for (const each of written) await rename(each, path.join(file, path.basename(each)));
      const format = formatOf(file);
      if (format === undefined) throw new Error("a geodatabase is a known format");
      return { file, format, name: geodatabase };
    }
    const name = choose(names);
    const format = formatOf(name);
    if (format === undefined) throw new Error("only known formats are chosen");
    const wanted = new Set([endingOf(name), ...format.sidecars]);
    const base = withoutEnding(name);
    const written = await zip.extractTo(path.join(folder, "unpacked"), {
      signal,
      only: (entry) => withoutEnding(entry.name) === base && wanted.has(endingOf(entry.name)),
    });
    // Renamed to fixed names: those in an archive may hold any characters.
    const file = path.join(folder, `source${endingOf(name)}`);
    for (const each of written) await rename(each, path.join(folder, `source${endingOf(each)}`));
    return { file, format, name };
  } finally {
    zip.close();
  }
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

function choose(names: readonly string[]): string {
  const known = names.filter((name) => formatOf(name) !== undefined);
  const shapefiles = known.filter((name) => {
    const format = formatOf(name);
    return format !== undefined && isShapefile(format);
  });
  // A shapefile often comes with a list of its columns as CSV.
  const [first, ...others] = shapefiles.length > 0 ? shapefiles : known;
  if (first === undefined) {
    throw new PermanentError(
      `The archive holds no file of a known format. Formats are recognised by their extension: ${knownEndings.join(", ")}.`,
      { code: "UNSUPPORTED_FORMAT" },
    );
  }
  if (others.length === 0) return first;
  throw new PermanentError(
    `The archive holds several layers: ${[first, ...others].slice(0, 10).join(", ")}. Send each in an archive of its own.`,
    { code: "ARCHIVE_AMBIGUOUS" },
  );
}

/** False for the files that macOS and other systems add to archives. */
function isData(name: string): boolean {
  return !name.startsWith("__MACOSX/") && !path.basename(name).startsWith(".");
}

function withoutEnding(name: string): string {
  return name.slice(0, name.length - endingOf(name).length);
}
