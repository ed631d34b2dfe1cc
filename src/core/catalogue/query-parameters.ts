import type { ProblemItem } from "../errors.ts";
import { Problem } from "../errors.ts";
import { isMoment } from "../model/moment.ts";

/** Reads `2024-05-01T00:00:00Z`, or two times with a slash; `..` or nothing is an open end. */
export function readInterval(text: string | undefined): {
  start: string | undefined;
  end: string | undefined;
} {
  if (text === undefined) return { start: undefined, end: undefined };
  const parts = text.split("/");
  if (parts.length === 1) {
    const at = readEnd(text);
    if (at !== undefined) return { start: at, end: at };
  }
  if (parts.length === 2) {
    const [start, end] = parts.map(readEnd);
    const ordered =
      start === undefined || end === undefined || Date.parse(start) <= Date.parse(end);
    if (ordered && (start ?? end) !== undefined) return { start, end };
  }
  throw badInterval(text);
}

function readEnd(text: string): string | undefined {
  if (text === "" || text === "..") return undefined;
  if (isMoment(text)) return text;
  throw badInterval(text);
}

function badInterval(text: string): Problem {
  const message = "must be a time such as 2024-05-01T00:00:00Z, or a span such as …/.. or ../…";
  return new Problem("BAD_REQUEST", `The search cannot be read: datetime ${message}.`, [
    { pointer: "/datetime", code: "INVALID", message: `${message}, not "${text.slice(0, 60)}"` },
  ]);
}

export interface SortField {
  readonly field: string;
  readonly direction: "asc" | "desc";
}

/** Reads `-properties.datetime,+id`. */
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

/**
 * The path of a sort field. `properties.` may be left out, and the name of a property may contain
 * dots.
 */
export function sortPath(field: string): string[] {
  if (topLevel.has(field)) return [field];
  return ["properties", field.replace(/^properties\./, "")];
}

export function refuse(name: string, message: string): Problem {
  const item: ProblemItem = { pointer: `/${name}`, code: "INVALID", message };
  return new Problem("BAD_REQUEST", `The search cannot be read: ${name} ${message}.`, [item]);
}
