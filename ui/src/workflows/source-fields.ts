/** Inputs that name a file in storage, as the checks of submissions know them. */
import { splitPlace } from "../files/split-place.ts";
import type { Declared, Fields } from "./submit-draft.ts";

export function isSource(name: string): boolean {
  return /^(?:.+_)?blob_paths?$/.test(name);
}

/** Fills the field of a source with a path; its zone goes into `container` where there is one. */
export function placeSource(declared: Declared | undefined, name: string, path: string): Fields {
  if (name.endsWith("s")) return { [name]: JSON.stringify([path]) };
  const container = name.replace(/blob_path$/, "container");
  if (!Object.hasOwn(declared ?? {}, container)) return { [name]: path };
  const place = splitPlace(path);
  return { [name]: place.blob_path, [container]: place.container };
}
