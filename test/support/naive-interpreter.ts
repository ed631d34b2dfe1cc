import { aggregate } from "../../src/core/dag/evaluate/fan-in.ts";
import type { Contribution } from "../../src/core/dag/evaluate/facts.ts";
import type { Json, JsonObject } from "../../src/core/model/json.ts";
import type { TaskError } from "../../src/core/model/task.ts";
import type {
  ConditionalDefinition,
  FanInDefinition,
  FanOutDefinition,
  NodeDefinition,
  RetryPolicy,
  WorkflowDefinition,
} from "../../src/core/model/workflow.ts";
import type { Script } from "./random-workflow.ts";

/**
 * The same language implemented a second time, as simply as possible and without any of the engine's
 * machinery: no ticks, no edges with states, no counters. It asks of each node how it must end,
 * from how its predecessors must end. `blocked` stands behind a failure and has no end of its own.
 */
export type NaiveEnd =
  | { readonly status: "completed"; readonly output: JsonObject }
  | { readonly status: "skipped" | "failed" | "blocked" };

export interface NaiveOutcome {
  readonly job: "completed" | "failed";
  readonly ends: ReadonlyMap<string, NaiveEnd>;
  readonly children: ReadonlyMap<string, "completed" | "failed">;
}

export function interpret(
  definition: WorkflowDefinition,
  inputs: JsonObject,
  scripts: ReadonlyMap<string, Script>,
  /** Every node, each behind its predecessors: the order in which a fan-in lists its sources. */
  order: readonly string[],
): NaiveOutcome {
  const ends = new Map<string, NaiveEnd>();
  const children = new Map<string, "completed" | "failed">();
  const nodes = definition.nodes;

  const predecessors = (id: string): readonly string[] =>
    order.filter((from) => {
      const node = nodeOf(nodes, from);
      const next =
        node.type === "conditional"
          ? node.branches.flatMap((branch) => branch.next)
          : node.type === "end"
            ? []
            : node.next;
      return next.includes(id) || nodeOf(nodes, id).depends_on?.nodes.includes(from);
    });

  const endOf = (id: string): NaiveEnd => {
    const known = ends.get(id);
    if (known !== undefined) return known;
    const end = workOut(id);
    ends.set(id, end);
    return end;
  };

  const workOut = (id: string): NaiveEnd => {
    const node = nodeOf(nodes, id);
    const arrivals = predecessors(id).map((from) => arrival(from, id));
    const live = arrivals.includes("live") || arrivals.length === 0;
    const any = node.depends_on?.mode === "any_of";
    if (!(any && live) && arrivals.includes("blocked")) return { status: "blocked" };
    return live ? run(id, node) : { status: "skipped" };
  };

  const arrival = (from: string, to: string): "live" | "dead" | "blocked" => {
    const end = endOf(from);
    if (end.status === "skipped") return "dead";
    if (end.status !== "completed") return "blocked";
    const node = nodeOf(nodes, from);
    if (node.type !== "conditional") return "live";
    // Named in `depends_on` and by no branch: it follows whichever branch is taken.
    if (!node.branches.some((branch) => branch.next.includes(to))) return "live";
    return node.branches[end.output["branch"] as number]?.next.includes(to) ? "live" : "dead";
  };

  const run = (id: string, node: NodeDefinition): NaiveEnd => {
    switch (node.type) {
      case "start":
      case "end":
        return { status: "completed", output: {} };
      case "task":
        return succeeds(scripts.get(id), node.retry)
          ? { status: "completed", output: { ran: id } }
          : { status: "failed" };
      case "conditional":
        return { status: "completed", output: choose(node, at(inputs, "switches", id) as number) };
      case "fan_out":
        return fanOut(id, node);
      case "fan_in":
        return fanIn(id, node);
    }
  };

  const fanOut = (id: string, node: FanOutDefinition): NaiveEnd => {
    const total = (at(inputs, "lists", id) as readonly Json[]).length;
    const ids = Array.from({ length: total }, (_, index) => `${id}__${index}`);
    for (const child of ids) {
      children.set(child, succeeds(scripts.get(child), node.task.retry) ? "completed" : "failed");
    }
    const failed = ids.filter((child) => children.get(child) === "failed").length;
    const behind = order.filter((other) => predecessors(other).includes(id));
    const budgets = behind.map((next) => nodeOf(nodes, next)).filter((n) => n.type === "fan_in");
    const tooMany = budgets.some(
      (budget) =>
        failed > (budget.max_failures ?? Infinity) ||
        failed > ((budget.max_failure_percent ?? Infinity) / 100) * total ||
        total - failed < (budget.min_success ?? 0) ||
        (failed > 0 && !hasBudget(budget)),
    );
    if (tooMany || (failed > 0 && budgets.length === 0)) return { status: "failed" };
    const counts = { fan_out_count: total, completed_count: total - failed, failed_count: failed };
    return { status: "completed", output: { ...counts, child_node_ids: ids } };
  };

  const fanIn = (id: string, node: FanInDefinition): NaiveEnd => {
    const sources = predecessors(id).flatMap((from): Contribution[] => {
      const end = endOf(from);
      if (end.status !== "completed") return [];
      if (nodeOf(nodes, from).type !== "fan_out") return [{ node_id: from, index: 0, ...end }];
      return (end.output["child_node_ids"] as string[]).map((child, index) => ({
        node_id: child,
        index,
        ...(children.get(child) === "failed"
          ? { error: { message: "boom" } as TaskError }
          : { output: { ran: child } }),
      }));
    });
    const answer = aggregate(node, sources);
    return answer.ok ? { status: "completed", output: answer.output } : { status: "failed" };
  };

  for (const id of Object.keys(nodes)) endOf(id);
  const failed = [...ends.values()].some((end) => end.status === "failed");
  return { job: failed ? "failed" : "completed", ends, children };
}

function hasBudget(budget: FanInDefinition): boolean {
  const { max_failures, max_failure_percent, min_success } = budget;
  return (max_failures ?? max_failure_percent ?? min_success) !== undefined;
}

function choose(node: ConditionalDefinition, value: number): JsonObject {
  const branch = value === 0 ? 0 : value === 1 || value === 2 ? 1 : 2;
  return { branch, next: node.branches[branch]?.next ?? [], value };
}

function succeeds(script: Script | undefined, policy: RetryPolicy): boolean {
  let transient = 0;
  let throttled = 0;
  for (const outcome of script ?? ["ok"]) {
    if (outcome === "ok") return true;
    if (outcome === "permanent") return false;
    if (outcome === "transient" && ++transient > policy.max_attempts) return false;
    if (outcome === "throttling" && ++throttled > 5) return false;
  }
  return false;
}

function nodeOf(nodes: WorkflowDefinition["nodes"], id: string): NodeDefinition {
  const node = nodes[id];
  if (node === undefined) throw new Error(`no node ${id}`);
  return node;
}

function at(inputs: JsonObject, ...path: readonly string[]): Json {
  return path.reduce((value: Json, key) => (value as JsonObject)[key] ?? null, inputs);
}
