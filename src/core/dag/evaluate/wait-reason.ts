import { z } from "zod";
import { taskOf } from "../../model/workflow.ts";
import type { Facts, NodeFact } from "./facts.ts";
import type { Graph, GraphNode } from "../graph.ts";
import { edgeState } from "./join.ts";

/**
 * Why a node is not running. It is derived for each request and never stored, so it cannot be
 * stale.
 */
export const waitReason = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("dependency"), nodes: z.array(z.string()) }),
  z.object({ kind: z.literal("retry"), at: z.iso.datetime(), attempt: z.number().int() }),
  z.object({ kind: z.literal("concurrency"), fan_out: z.string(), limit: z.number().int() }),
  z.object({ kind: z.literal("children"), settled: z.number().int(), total: z.number().int() }),
  z.object({ kind: z.literal("paused") }),
  /** No live worker offers the handler on the queue. */
  z.object({ kind: z.literal("no_worker"), queue: z.string(), handler: z.string() }),
  z.object({ kind: z.literal("queued"), queue: z.string() }),
  /** The next tick takes the node; nothing holds it back. */
  z.object({ kind: z.literal("next_tick") }),
]);
export type WaitReason = z.infer<typeof waitReason>;

/**
 * Returns undefined for a node that is running on a worker or settled. `offers` says whether a live
 * worker offers the handler on the queue.
 */
export function whyWaiting(
  graph: Graph,
  facts: Facts,
  nodeId: string,
  offers: (queue: string, handler: string) => boolean,
): WaitReason | undefined {
  const fact = facts.nodes.get(nodeId);
  const node = graph.byId.get(fact?.parent?.node_id ?? nodeId);
  if (fact === undefined || node === undefined) return undefined;
  switch (fact.status) {
    case "pending":
      return whyPending(facts, node);
    case "ready":
      return whyReady(facts, node, fact);
    case "dispatched": {
      const task = taskOf(node.definition);
      if (task === undefined) return undefined;
      const { queue, handler } = task;
      return offers(queue, handler)
        ? { kind: "queued", queue }
        : { kind: "no_worker", queue, handler };
    }
    case "running":
      return whyFanOut(facts, fact);
    case "completed":
    case "failed":
    case "skipped":
    case "cancelled":
      return undefined;
  }
}

function whyPending(facts: Facts, node: GraphNode): WaitReason {
  const nodes = node.incoming
    .filter((edge) => {
      const from = facts.nodes.get(edge.from.id);
      return from === undefined || edgeState(edge, from) === "pending";
    })
    .map((edge) => edge.from.id);
  return nodes.length > 0 ? { kind: "dependency", nodes } : { kind: "next_tick" };
}

function whyReady(facts: Facts, node: GraphNode, fact: NodeFact): WaitReason {
  if (facts.job.paused) return { kind: "paused" };
  if (fact.retry_at !== undefined) {
    return { kind: "retry", at: new Date(fact.retry_at).toISOString(), attempt: fact.attempt };
  }
  const limit = node.type === "fan_out" ? node.definition.max_concurrency : undefined;
  if (fact.parent !== undefined && limit !== undefined) {
    return { kind: "concurrency", fan_out: node.id, limit };
  }
  return { kind: "next_tick" };
}

function whyFanOut(facts: Facts, fact: NodeFact): WaitReason | undefined {
  if (fact.fan_out === undefined) return undefined;
  const { completed, failed, total, next_index } = fact.fan_out;
  if (facts.job.paused && next_index === completed + failed) return { kind: "paused" };
  return { kind: "children", settled: completed + failed, total };
}
