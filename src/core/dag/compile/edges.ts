import type { Finding, TreePath } from "./finding.ts";
import { errorAt } from "./finding.ts";
import { implicitEnd, implicitNode } from "./implicit.ts";
import { readMentions } from "./mentions.ts";
import type { Mention } from "./mentions.ts";
import type { Source } from "./read-source.ts";
import { suggest } from "./suggest.ts";

/** Who follows whom among the nodes that the author wrote, as far as it could be read. */
export interface Links {
  readonly ids: readonly string[];
  readonly index: ReadonlyMap<string, number>;
  readonly outgoing: readonly (readonly number[])[];
  readonly incoming: readonly (readonly number[])[];
  readonly hasStart: boolean;
  readonly hasEnd: boolean;
  /** Where the author wrote this edge. */
  pathOf(from: number, to: number): TreePath;
  /** False: an edge may be missing, so nothing may be concluded from its absence. */
  readonly complete: boolean;
}

/** Comparing names costs; after so many unknown ones the author has understood. */
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
    const mentions = readMentions(id, source.nodes.get(id)?.raw);
    complete &&= mentions.complete;
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

  /** Undefined: no edge between written nodes. A likely typo counts as the node it resembles. */
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
