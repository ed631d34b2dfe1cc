import type { Finding } from "../finding.ts";
import { errorAt, warningAt } from "../finding.ts";
import type { Links } from "../source/links.ts";
import { findCycles, reachable, topologicalOrder } from "../source/order.ts";
import type { Source } from "../source/read-source.ts";

/** A longer cycle is shown by its first nodes and its last one. */
const mostShown = 20;

/** Checks what needs the whole graph. Returns the order of the nodes that are on no cycle. */
export function lintStructure(source: Source, links: Links, findings: Finding[]): number[] {
  const order = topologicalOrder(links.outgoing);
  if (order.length < links.ids.length) lintCycles(links, findings);
  lintStarts(source, findings);
  if (links.hasStart && links.complete) lintReachable(source, links, order, findings);
  lintBudgets(source, links, findings);
  return order;
}

function lintCycles(links: Links, findings: Finding[]): void {
  for (const cycle of findCycles(links.outgoing)) {
    const [first] = cycle;
    const last = cycle.at(-1);
    if (first === undefined || last === undefined) continue;
    const names = cycle.map((node) => links.ids[node] ?? "");
    const shown =
      names.length <= mostShown
        ? names
        : [...names.slice(0, mostShown - 1), `(${names.length - mostShown} more)`, names.at(-1)];
    const path = [...shown, names[0]].join(" → ");
    findings.push(errorAt("CYCLE", links.pathOf(last, first), `the nodes form a cycle: ${path}`));
  }
}

function lintStarts(source: Source, findings: Finding[]): void {
  const starts = [...source.nodes].filter(([, node]) => node.type === "start").map(([id]) => id);
  for (const id of starts.slice(1)) {
    const message = `"${id}" is a second start node; "${starts[0] ?? ""}" is the first`;
    findings.push(errorAt("SEVERAL_STARTS", ["nodes", id], message, { at: "key" }));
  }
}

function lintReachable(
  source: Source,
  links: Links,
  order: readonly number[],
  findings: Finding[],
): void {
  const starts = links.ids.flatMap((id, node) =>
    source.nodes.get(id)?.type === "start" ? [node] : [],
  );
  const reached = reachable(links.outgoing, starts);
  // Only nodes in the order: nodes on a cycle or behind one have a finding already.
  for (const node of order.toSorted((a, b) => a - b)) {
    const id = links.ids[node];
    if (reached[node] === 1 || id === undefined) continue;
    const message = `"${id}" cannot be reached from the start; name it in a \`next\` or give it a \`depends_on\``;
    findings.push(errorAt("UNREACHABLE", ["nodes", id], message, { at: "key" }));
  }
}

const budgetKeys = ["max_failures", "max_failure_percent", "min_success"] as const;

function lintBudgets(source: Source, links: Links, findings: Finding[]): void {
  for (const [node, id] of links.ids.entries()) {
    const parsed = source.nodes.get(id)?.parsed;
    if (parsed?.type !== "fan_in") continue;
    const key = budgetKeys.find((each) => parsed[each] !== undefined);
    if (key === undefined) continue;
    const before = links.incoming[node] ?? [];
    const types = before.map((each) => source.nodes.get(links.ids[each] ?? "")?.type);
    if (types.includes("fan_out")) continue;
    const message = `${key} has no effect: no fan_out comes directly before "${id}"`;
    findings.push(warningAt("FAN_IN_WITHOUT_FAN_OUT", ["nodes", id, key], message, { at: "key" }));
  }
}
