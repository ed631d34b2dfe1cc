import { isJsonObject } from "../../model/json.ts";
import { nodeSources } from "../../model/workflow.ts";
import type { Finding, TreePath } from "../finding.ts";
import { errorAt } from "../finding.ts";
import type { Source, SourceNode } from "./read-source.ts";
import { suggest } from "../suggest.ts";

/** The edges between the nodes that the author wrote, as far as they could be read. */
export interface Links {
  readonly ids: readonly string[];
  readonly index: ReadonlyMap<string, number>;
  readonly outgoing: readonly (readonly number[])[];
  readonly incoming: readonly (readonly number[])[];
  readonly hasStart: boolean;
  readonly hasEnd: boolean;
  /** Where the author wrote this edge. */
  pathOf(from: number, to: number): TreePath;
  /** False: an edge may be missing, so no finding may follow from the absence of an edge. */
  readonly complete: boolean;
}

/**
 * Ids of the start and end that the author left out. They cannot clash: a written name never starts
 * with @.
 */
export const implicitStart = "@start";
export const implicitEnd = "@end";

/** `next: END` and `depends_on: START` mean the implicit nodes, in any case of letters. */
export function implicitNode(name: string, side: "next" | "depends_on"): string | undefined {
  const lower = name.toLowerCase();
  if (side === "next" && lower === "end") return implicitEnd;
  if (side === "depends_on" && lower === "start") return implicitStart;
  return undefined;
}

/** Comparing names is slow, and after this many unknown names more suggestions do not help. */
const mostSuggestions = 50;

export function link(source: Source, findings: Finding[]): Links {
  const ids = [...source.nodes.keys()];
  const index = new Map(ids.map((id, position) => [id, position]));
  const types = [...source.nodes.values()].map((node) => node.type);
  const hasStart = types.includes("start");
  const hasEnd = types.includes("end");
  const outgoing: number[][] = ids.map(() => []);
  const incoming: number[][] = ids.map(() => []);
  // One map for all edges: a map for each of 50,000 nodes took longer than everything else here.
  const paths = new Map<number, TreePath>();
  const edge = (from: number, to: number): number => from * ids.length + to;
  let complete = true;
  let suggestions = 0;

  for (const [here, id] of ids.entries()) {
    const node = source.nodes.get(id);
    const mentions = readMentions(id, node?.raw);
    complete &&= mentions.complete && !(node !== undefined && mayHideEdges(node));
    for (const mention of mentions.found) {
      const there = resolve(mention);
      if (there === undefined) continue;
      if (there === here) {
        findings.push(errorAt("SELF_EDGE", mention.path, `"${id}" cannot follow itself`));
        continue;
      }
      const [from, to] = mention.side === "next" ? [here, there] : [there, here];
      if (paths.has(edge(from, to))) continue;
      paths.set(edge(from, to), mention.path);
      outgoing[from]?.push(to);
      incoming[to]?.push(from);
    }
  }

  /**
   * Returns undefined if the name is no written node. A likely typo counts as the node it
   * resembles.
   */
  function resolve(mention: Mention): number | undefined {
    const exact = index.get(mention.name);
    if (exact !== undefined) return exact;
    const implicit = implicitNode(mention.name, mention.side);
    if (implicit !== undefined && !(implicit === implicitEnd ? hasEnd : hasStart)) return undefined;
    const meant = suggestions++ < mostSuggestions ? suggest(mention.name, ids) : undefined;
    const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
    findings.push(
      errorAt("UNKNOWN_NODE", mention.path, `there is no node "${mention.name}"${hint}`),
    );
    return meant === undefined ? undefined : index.get(meant);
  }

  return {
    ids,
    index,
    outgoing,
    incoming,
    hasStart,
    hasEnd,
    complete,
    pathOf: (from, to) => paths.get(edge(from, to)) ?? [],
  };
}

/** Whether a node has a key that is not known, which may be a misspelt `next` or `on_true`. */
function mayHideEdges({ raw, type, parsed }: SourceNode): boolean {
  if (parsed !== undefined || !isJsonObject(raw)) return false;
  if (type === undefined) return true;
  const known = nodeSources[type].shape;
  return Object.keys(raw).some((key) => !Object.hasOwn(known, key));
}

/** A place where a node names another as a neighbour. */
interface Mention {
  readonly name: string;
  /** next: the named node follows. depends_on: it comes before. */
  readonly side: "next" | "depends_on";
  readonly path: TreePath;
}

interface Mentions {
  readonly found: readonly Mention[];
  /** False: another value stands where a name should, so an edge may be missing. */
  readonly complete: boolean;
}

/**
 * Reads a node's edges from the source and not from the parsed node, so that a node that breaks its
 * schema keeps its edges, and every edge knows its own line.
 */
function readMentions(id: string, raw: unknown): Mentions {
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
      if (!isJsonObject(each) || each["next"] === undefined) complete = false;
      else names(each["next"], "next", "branches", branch, "next");
    }
  } else if (branches !== undefined) complete = false;
  const depends = raw["depends_on"];
  if (isJsonObject(depends)) {
    names(depends["all_of"], "depends_on", "depends_on", "all_of");
    names(depends["any_of"], "depends_on", "depends_on", "any_of");
  } else names(depends, "depends_on", "depends_on");
  return { found, complete };
}
