/**
 * Arranges a workflow's graph as a tree that people can read from top to bottom.
 *
 * It is the dominator tree: the parent of a node is the last node that every path to it passes. A
 * child that every path onwards passes too (the next node of a chain, the join of branches) is
 * drawn at the parent's depth; the other children are branches, one level deeper. So a chain of a
 * hundred nodes is not a staircase, and a join stands at the depth of its fork. No edge leads into
 * the middle of another subtree, so the rows are in an order of execution.
 */
import type { Client } from "../../core/api/client.ts";
import type { Job } from "../../core/api/job-schemas.ts";
import type { WorkflowGraph } from "../../core/api/workflows.ts";

export interface TreeRow {
  readonly nodeId: string;
  /** The lines of the tree, drawn to the left of the name. */
  readonly lead: string;
}

type Edge = Pick<WorkflowGraph["edges"][number], "from" | "to">;

/** Expects the nodes in the order of the API: each node after all nodes that it depends on. */
export function arrangeNodes({ nodes, edges }: WorkflowGraph): TreeRow[] {
  const order = nodes.map(({ node_id }) => node_id);
  const before = dominators(order, edges);
  const after = dominators(
    order.toReversed(),
    edges.map(({ from, to }) => ({ from: to, to: from })),
  );
  const hidden = new Set(
    nodes.filter(({ node_type: type }) => type === "start" || type === "end").map((n) => n.node_id),
  );

  const under = new Map<string | undefined, string[]>();
  for (const id of order) {
    const siblings = under.get(before.get(id));
    if (siblings === undefined) under.set(before.get(id), [id]);
    else siblings.push(id);
  }
  const passes = (id: string, from: string): boolean => {
    for (let next = after.get(from); next !== undefined; next = after.get(next)) {
      if (next === id) return true;
    }
    return false;
  };

  const rows: TreeRow[] = [];
  // Not recursive: a chain of ten thousand nodes must not need a stack of that depth.
  const open = (under.get(undefined) ?? []).map((id) => ({ id, lead: "", inner: "" })).toReversed();
  for (let row = open.pop(); row !== undefined; row = open.pop()) {
    const { id, inner } = row;
    const isHidden = hidden.has(id);
    if (!isHidden) rows.push({ nodeId: id, lead: row.lead });
    const below = under.get(id) ?? [];
    const onward = below.find((each) => passes(each, id));
    if (onward !== undefined) open.push({ id: onward, lead: inner, inner });
    const branches = below.filter((each) => each !== onward);
    const shown = branches.filter((each) => !hidden.has(each));
    for (const each of branches.toReversed()) {
      const isLast = each === shown.at(-1);
      const lines = isHidden ? ["", ""] : isLast ? ["└─ ", "   "] : ["├─ ", "│  "];
      // Branches of the hidden start node have no row above them, so they get no lines.
      open.push({
        id: each,
        lead: `${inner}${lines[0] ?? ""}`,
        inner: `${inner}${lines[1] ?? ""}`,
      });
    }
  }
  return rows;
}

/** The immediate dominator of each node. One pass is enough, because the graph has no cycles. */
function dominators(order: readonly string[], edges: readonly Edge[]): Map<string, string> {
  const place = new Map(order.map((id, index) => [id, index]));
  const incoming = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const list = incoming.get(to);
    if (list === undefined) incoming.set(to, [from]);
    else list.push(from);
  }
  const found = new Map<string, string>();
  const meet = (left: string | undefined, right: string | undefined): string | undefined => {
    while (left !== right) {
      if (left === undefined || right === undefined) return undefined;
      if ((place.get(left) ?? 0) > (place.get(right) ?? 0)) left = found.get(left);
      else right = found.get(right);
    }
    return left;
  };
  for (const id of order) {
    const froms = incoming.get(id) ?? [];
    const common = froms.slice(1).reduce<string | undefined>(meet, froms[0]);
    if (common !== undefined) found.set(id, common);
  }
  return found;
}

/**
 * The tree of the workflow version that a job runs; a plain list if that version cannot be read.
 */
export async function treeOf(client: Client, job: Job): Promise<TreeRow[]> {
  const { workflow_id, workflow_hash } = job;
  try {
    const { graph } = await client.getWorkflowVersion({ params: { workflow_id, workflow_hash } });
    return arrangeNodes(graph);
  } catch {
    return job.nodes
      .filter(({ parent_node_id: parent }) => parent === null)
      .map(({ node_id: nodeId }) => ({ nodeId, lead: "" }));
  }
}
