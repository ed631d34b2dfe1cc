import { isJsonObject } from "../../model/json.ts";
import type { TreePath } from "./finding.ts";

/** One place where a node names another as a neighbour. */
export interface Mention {
  readonly name: string;
  /** next: the named node follows. depends_on: it comes before. */
  readonly side: "next" | "depends_on";
  readonly path: TreePath;
}

export interface Mentions {
  readonly found: readonly Mention[];
  /** Something stands where a name should: what follows from missing edges is not to be reported. */
  readonly complete: boolean;
}

/**
 * Reads a node's edges from what the author wrote and not from the parsed node: so a node that
 * breaks its schema elsewhere still leads where it leads, and every edge knows its own line.
 */
export function readMentions(id: string, raw: unknown): Mentions {
  const found: Mention[] = [];
  let complete = true;
  const base = ["nodes", id];

  function names(value: unknown, side: Mention["side"], ...path: TreePath): void {
    if (value === undefined) return;
    if (typeof value === "string") found.push({ name: value, side, path: [...base, ...path] });
    else if (Array.isArray(value)) {
      for (const [index, name] of value.entries()) {
        if (typeof name !== "string") complete = false;
        else found.push({ name, side, path: [...base, ...path, index] });
      }
    } else complete = false;
  }

  if (!isJsonObject(raw)) return { found, complete: false };
  names(raw["next"], "next", "next");
  names(raw["on_true"], "next", "on_true");
  names(raw["on_false"], "next", "on_false");
  const branches = raw["branches"];
  if (Array.isArray(branches)) {
    for (const [branch, each] of branches.entries()) {
      if (isJsonObject(each)) names(each["next"], "next", "branches", branch, "next");
      else complete = false;
    }
  }
  const depends = raw["depends_on"];
  if (isJsonObject(depends)) {
    names(depends["all_of"], "depends_on", "depends_on", "all_of");
    names(depends["any_of"], "depends_on", "depends_on", "any_of");
  } else names(depends, "depends_on", "depends_on");
  return { found, complete };
}
