import { isJsonObject } from "../model/json.ts";
import type { TreePath } from "./finding.ts";

/** One place where a node names another as a neighbour. */
export interface Mention {
  readonly name: string;
  /** next: the named node follows. depends_on: it comes before. */
  readonly side: "next" | "depends_on";
  /** The branch of a conditional that leads there. */
  readonly branch?: number;
  readonly path: TreePath;
}

export interface Mentions {
  readonly found: readonly Mention[];
  readonly join: "all_of" | "any_of";
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

  function names(value: unknown, path: TreePath, mention: Omit<Mention, "name" | "path">): void {
    if (value === undefined) return;
    if (typeof value === "string") found.push({ ...mention, name: value, path });
    else if (Array.isArray(value)) {
      for (const [index, name] of value.entries()) {
        if (typeof name === "string") found.push({ ...mention, name, path: [...path, index] });
        else complete = false;
      }
    } else complete = false;
  }

  if (!isJsonObject(raw)) return { found, join: "all_of", complete: false };
  names(raw["next"], [...base, "next"], { side: "next" });
  names(raw["on_true"], [...base, "on_true"], { side: "next", branch: 0 });
  names(raw["on_false"], [...base, "on_false"], { side: "next", branch: 1 });
  const branches = raw["branches"];
  if (Array.isArray(branches)) {
    for (const [branch, each] of branches.entries()) {
      const path = [...base, "branches", branch, "next"];
      if (isJsonObject(each)) names(each["next"], path, { side: "next", branch });
      else complete = false;
    }
  }
  const depends = raw["depends_on"];
  const path = [...base, "depends_on"];
  if (!isJsonObject(depends)) {
    names(depends, path, { side: "depends_on" });
    return { found, join: "all_of", complete };
  }
  names(depends["all_of"], [...path, "all_of"], { side: "depends_on" });
  names(depends["any_of"], [...path, "any_of"], { side: "depends_on" });
  return { found, join: depends["any_of"] === undefined ? "all_of" : "any_of", complete };
}
