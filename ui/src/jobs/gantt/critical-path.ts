import type { NodeSummary } from "../../../../src/core/api/job-schemas.ts";

/**
 * The chain that decided how long the job took: from the node that ended last, back along the
 * predecessor that each one waited for the longest.
 */
export function criticalPath(
  nodes: readonly NodeSummary[],
  edges: readonly { readonly from: string; readonly to: string }[],
): ReadonlySet<string> {
  const ended = new Map(
    nodes.flatMap(({ node_id, status, completed_at }) =>
      completed_at === null || status === "skipped" || status === "cancelled"
        ? []
        : [[node_id, Date.parse(completed_at)] as const],
    ),
  );
  const before = new Map<string, string[]>();
  for (const { from, to } of edges) before.set(to, [...(before.get(to) ?? []), from]);
  const path = new Set<string>();
  let here = latest([...ended.keys()], ended);
  while (here !== undefined && !path.has(here)) {
    path.add(here);
    here = latest(
      (before.get(here) ?? []).filter((id) => ended.has(id)),
      ended,
    );
  }
  return path;
}

function latest(ids: readonly string[], ended: ReadonlyMap<string, number>): string | undefined {
  let best: string | undefined;
  // On a tie the later one in the graph's order: an end node settles with what it waited for.
  for (const id of ids) {
    if (best === undefined || (ended.get(id) ?? 0) >= (ended.get(best) ?? 0)) best = id;
  }
  return best;
}
