/** A zipped layer: one file of a known format, or one shapefile with what belongs to it. */
import { rename } from "node:fs/promises";
import path from "node:path";
import { openZip } from "../../../adapters/zip/open-zip.ts";
import {
  endingOf,
  formatOf,
  isShapefile,
  knownEndings,
} from "../../../core/vector/source-format.ts";
import type { SourceFile } from "./fetch-source.ts";
import { refuse } from "./refuse.ts";

export async function unpackArchive(
  archive: string,
  folder: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<Omit<SourceFile, "received">> {
  const zip = await openZip(archive);
  try {
    const name = choose(zip.entries.map((entry) => entry.name).filter(isData));
    const format = formatOf(name);
    if (format === undefined) throw new Error("only known formats are chosen");
    const wanted = new Set([endingOf(name), ...format.sidecars]);
    const base = withoutEnding(name);
    const written = await zip.extractTo(path.join(folder, "unpacked"), {
      signal,
      only: (entry) => withoutEnding(entry.name) === base && wanted.has(endingOf(entry.name)),
    });
    // Names of our own: those in an archive may be anything.
    const file = path.join(folder, `source${endingOf(name)}`);
    for (const each of written) await rename(each, path.join(folder, `source${endingOf(each)}`));
    return { file, format, name };
  } finally {
    zip.close();
  }
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
    throw refuse(
      "UNSUPPORTED_FORMAT",
      `The archive holds no file of a known format. They are known by their ending: ${knownEndings.join(", ")}.`,
    );
  }
  if (others.length === 0) return first;
  throw refuse(
    "ARCHIVE_AMBIGUOUS",
    `The archive holds several layers: ${[first, ...others].slice(0, 10).join(", ")}. Send each in an archive of its own.`,
  );
}

/** What some systems put beside the files. */
function isData(name: string): boolean {
  return !name.startsWith("__MACOSX/") && !path.basename(name).startsWith(".");
}

function withoutEnding(name: string): string {
  return name.slice(0, name.length - endingOf(name).length);
}
