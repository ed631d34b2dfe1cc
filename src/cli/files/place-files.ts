import { UsageError } from "../common/failure.ts";
import type { LocalFile } from "./open-source.ts";

/**
 * Where each file goes. One file goes to the very path if that has an ending, as in
 * `bronze/dem.tif`; otherwise the target is a folder.
 */
export function placeFiles(
  files: readonly LocalFile[],
  target: string,
): { readonly file: string; readonly path: string }[] {
  if (!/^bronze(?:\/|$)/.test(target)) {
    throw new UsageError(`"${target}" must begin with bronze/, the zone of raw files.`);
  }
  const [first] = files;
  const isName = !target.endsWith("/") && /\.[A-Za-z\d]+$/.test(target);
  if (first !== undefined && files.length === 1 && isName && !first.name.includes("/")) {
    return [{ file: first.file, path: target }];
  }
  const folder = target.replace(/\/+$/, "");
  return files.map(({ file, name }) => ({ file, path: `${folder}/${name}` }));
}
