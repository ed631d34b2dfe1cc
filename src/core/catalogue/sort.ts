import { refuse } from "./search.ts";

export interface SortField {
  readonly field: string;
  readonly direction: "asc" | "desc";
}

/** `-properties.datetime,+id` */
export function readSort(text: string): SortField[] {
  return text.split(",").map((part) => {
    const [, sign, field] = /^\s*([+-]?)(\S+)\s*$/.exec(part) ?? [];
    if (field === undefined)
      throw refuse("sortby", "must be fields such as -properties.datetime,id");
    return { field, direction: sign === "-" ? "desc" : "asc" };
  });
}

const topLevel = new Set([
  "id",
  "collection",
  "bbox",
  "geometry",
  "assets",
  "stac_version",
  "type",
]);

/** A property may be named with or without where it stands; its own name may have dots in it. */
export function sortPath(field: string): string[] {
  if (topLevel.has(field)) return [field];
  return ["properties", field.replace(/^properties\./, "")];
}
