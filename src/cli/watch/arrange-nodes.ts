/**
 * A graph as a tree that people can read from top to bottom.
 *
 * The tree is the one of dominators: a node hangs under the last node that every way to it passes.
 * One that every way from there passes too (the next of a chain, the place where branches meet)
 * continues at the same depth; all others are branches and stand one deeper. So a chain of a hundred
 * nodes is not a staircase, and a join comes back to where its fork was. An edge never leads
 * from one subtree into the inside of another, hence the order stays one of execution.
 */
import type { WorkflowGraph } from "../../core/api/workflows.ts";

export interface TreeRow {
  readonly nodeId: string;
  /** What stands left of the name: the lines of the tree. */
  readonly lead: string;
}

type Edge = Pick<WorkflowGraph["edges"][number], "from" | "to">;

/** The nodes of the contract stand behind all that they depend on. */
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
      // Branches of the hidden start have nothing above them to hang on.
      open.push({
        id: each,
        lead: `${inner}${lines[0] ?? ""}`,
        inner: `${inner}${lines[1] ?? ""}`,
      });
    }
  }
  return rows;
}

/** For each node the last one that every way to it passes; one pass suffices without cycles. */
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
