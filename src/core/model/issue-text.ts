import type { z } from "zod";

/** Says what zod refused, and where. An issue of the whole value has no path to name. */
export function issueText({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join(".")}: ${message}`;
}

/** The first finding, where one is enough. */
export function firstIssueText({ issues: [first] }: z.core.$ZodError): string {
  return first === undefined ? "" : issueText(first);
}
