import { Problem } from "../errors.ts";

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** `2024-05-01T00:00:00Z`, or two with a slash; `..` or nothing is an open end. */
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
  throw refuse(text);
}

function readEnd(text: string): string | undefined {
  if (text === "" || text === "..") return undefined;
  if (rfc3339.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw refuse(text);
}

function refuse(text: string): Problem {
  const message = "must be a time such as 2024-05-01T00:00:00Z, or a span such as …/.. or ../…";
  return new Problem("BAD_REQUEST", `The search cannot be read: datetime ${message}.`, [
    { pointer: "/datetime", code: "INVALID", message: `${message}, not "${text.slice(0, 60)}"` },
  ]);
}
