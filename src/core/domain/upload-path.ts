import { isBelow } from "./preflight.ts";

export type UploadPath =
  { readonly ok: true; readonly path: string } | { readonly ok: false; readonly reason: string };

/**
 * Where a file goes that was announced with `path`, or with `filename` alone: into the zone of raw
 * files, for a platform below its own places. The storage checks the rest of the path.
 */
export function uploadPath(
  metadata: Readonly<Record<string, string>>,
  /** The places of the platform; undefined for operators. */
  prefixes: readonly string[] | undefined,
): UploadPath {
  const given = metadata["path"] ?? metadata["filename"]?.split(/[\\/]/).at(-1) ?? "";
  if (given === "")
    return refuse("Say in Upload-Metadata where the file goes: `path` or `filename`.");
  if (prefixes === undefined) {
    if (metadata["path"] === undefined) return { ok: true, path: `bronze/${given}` };
    return given.startsWith("bronze/")
      ? { ok: true, path: given }
      : refuse(`Uploads go into the zone bronze: "bronze/${given}" and not "${given}".`);
  }
  const places = prefixes.filter((prefix) => prefix.startsWith("bronze/"));
  const [first] = places;
  if (first === undefined) {
    return refuse(
      "This platform has no place for uploads: an operator adds a source prefix in bronze.",
    );
  }
  if (isBelow(given, places)) return { ok: true, path: given };
  return { ok: true, path: `${first.replace(/\/+$/, "")}/${given.replace(/^\/+/, "")}` };
}

function refuse(reason: string): UploadPath {
  return { ok: false, reason };
}
