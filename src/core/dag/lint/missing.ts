import type { Edge, Graph, GraphNode } from "../graph.ts";
import type { Finding } from "../finding.ts";
import { warningAt } from "../finding.ts";
import type { PlacedReference } from "./templates.ts";

/**
 * Warns about templates that fail when a branch is not taken or an input is not given. A reference
 * is left out if its text allows for absence: by `default`, `is defined`, or the node's `status`.
 */
export function lintMissing(
  graph: Graph,
  references: readonly PlacedReference[],
  findings: Finding[],
): void {
  const guarded = new Set(references.filter(isGuard).map(keyOf));
  const asked = inputsOfConditions(graph, references);
  const runs = runConditions(graph);
  for (const placed of references) {
    const { reference, node } = placed;
    const [first, second] = reference.path;
    if (reference.optional || first === undefined || guarded.has(keyOf(placed))) continue;
    const name = String(first);
    const where = { offset: reference.offset };
    if (reference.root === "inputs" && !asked.has(name)) {
      const declared = graph.definition.inputs?.[name];
      if (declared === undefined || declared.required || declared.default !== undefined) continue;
      const message =
        `input "${name}" is optional and has no default: without it this template fails; ` +
        `give it a default or write inputs.${name} | default(…)`;
      findings.push(warningAt("MAY_BE_MISSING", placed.path, message, where));
    }
    if (reference.root !== "nodes" || second === "status") continue;
    const reason = whyMissing(graph, runs, node, name);
    if (reason === undefined) continue;
    const message = `"${name}" ${reason}, and then this template fails; allow for it with default(…)`;
    findings.push(warningAt("MAY_BE_SKIPPED", placed.path, message, where));
  }
}

/** The text that a reference stands in, and what it refers to. */
function keyOf({ path, reference }: PlacedReference): string {
  return JSON.stringify([path, reference.root, reference.path[0]]);
}

function isGuard({ reference }: PlacedReference): boolean {
  return reference.optional || (reference.root === "nodes" && reference.path[1] === "status");
}

/** Inputs that a conditional asks about: the nodes behind it may rely on its answer. */
function inputsOfConditions(graph: Graph, references: readonly PlacedReference[]): Set<string> {
  const inConditions = references.filter(
    ({ node, reference }) =>
      node !== undefined &&
      graph.byId.get(node)?.type === "conditional" &&
      reference.root === "inputs" &&
      reference.optional,
  );
  return new Set(inConditions.map(({ reference }) => String(reference.path[0])));
}

function whyMissing(
  graph: Graph,
  runs: ReadonlyMap<GraphNode, RunCondition | undefined>,
  readerId: string | undefined,
  id: string,
): string | undefined {
  const read = graph.byId.get(id);
  if (read === undefined) return undefined;
  const reader = readerId === undefined ? undefined : graph.byId.get(readerId);
  const from = reader === undefined ? always : runs.get(reader);
  const to = runs.get(read);
  if (from === undefined || to === undefined) return undefined;
  if (!implies(from, to)) return "may be skipped";
  const isFirstOfSeveral =
    reader !== undefined &&
    reader.incoming.length > 1 &&
    reader.incoming.some((edge) => edge.from === read && (reader.join === "any_of" || edge.isAny));
  return isFirstOfSeveral ? "may not have finished (any_of)" : undefined;
}

/**
 * When a node runs: if one of these branches is taken. `always` holds no branch and means that the
 * node runs in every job that does not fail.
 */
type RunCondition = ReadonlySet<Branch>;

interface Branch {
  readonly from: GraphNode;
  readonly index: number;
  /** When the conditional itself runs. */
  readonly when: RunCondition;
}

const always: RunCondition = new Set();

/** More alternatives than this are not followed, and such nodes get no warnings. */
const mostBranches = 64;

function runConditions(graph: Graph): Map<GraphNode, RunCondition | undefined> {
  const runs = new Map<GraphNode, RunCondition | undefined>();
  const branches = new Map<GraphNode, readonly Branch[]>();
  for (const node of graph.nodes) {
    const when = node.incoming.length === 0 ? always : join(node.incoming);
    runs.set(node, when);
    if (node.type !== "conditional" || when === undefined) continue;
    branches.set(
      node,
      node.definition.branches.map((_, index) => ({ from: node, index, when })),
    );
  }
  return runs;

  function join(edges: readonly Edge[]): RunCondition | undefined {
    const found = new Set<Branch>();
    for (const { from, branches: taken } of edges) {
      const own = branches.get(from);
      const live =
        taken === undefined || own === undefined
          ? runs.get(from)
          : taken.flatMap((index) => own[index] ?? []);
      if (live === undefined) return undefined;
      if (live === always) return always;
      for (const branch of live) found.add(branch);
      if (found.size > mostBranches) return undefined;
    }
    return merge(found);
  }

  /** If all branches of a conditional are in the set, the node runs whenever the conditional does. */
  function merge(found: Set<Branch>): RunCondition {
    for (;;) {
      const whole = [...new Set([...found].map(({ from }) => from))].find((from) =>
        branches.get(from)?.every((branch) => found.has(branch)),
      );
      if (whole === undefined) return found;
      const when = runs.get(whole) ?? always;
      if (when === always) return always;
      for (const branch of branches.get(whole) ?? []) found.delete(branch);
      for (const branch of when) found.add(branch);
    }
  }
}

/** Whether a node with the second condition runs in every job in which one with the first does. */
function implies(from: RunCondition, to: RunCondition): boolean {
  if (to === always) return true;
  if (from === always) return false;
  return [...from].every((branch) => to.has(branch) || implies(branch.when, to));
}
