import { aggregate } from "../../src/core/dag/evaluate/fan-in.ts";
import type { Decision, TaskOrder } from "../../src/core/dag/evaluate/decision.ts";
import { evaluate } from "../../src/core/dag/evaluate/evaluate.ts";
import type {
  Collected,
  Contribution,
  Facts,
  FanOutCounters,
  NodeFact,
  Report,
} from "../../src/core/dag/evaluate/facts.ts";
import type { Graph } from "../../src/core/dag/graph.ts";
import type { JobStatus } from "../../src/core/model/job.ts";
import { jobMachine } from "../../src/core/model/job.ts";
import type { Json, JsonObject } from "../../src/core/model/json.ts";
import { childNodeId, isSettled, nodeMachine, taskId } from "../../src/core/model/node.ts";
import type { TaskError } from "../../src/core/model/task.ts";
import { mayBecome } from "../../src/core/model/transitions.ts";

export interface Flight {
  readonly task_id: string;
  readonly node_id: string;
  readonly attempt: number;
  readonly task: TaskOrder;
}

/**
 * A database in memory for one job: it applies decisions exactly as `Decision` describes them and
 * refuses what the state machines do not allow. Tests fly the tasks and land them as they like.
 */
export class Simulation {
  status: JobStatus = "pending";
  now = 0;
  paused = false;
  /** Small, so that fan-outs of a few children are created in blocks. */
  fanOutBlock: number | undefined;
  cancelRequested: string | undefined;
  result: Json | undefined;
  error: { node_id: string | undefined; error: TaskError } | undefined;
  readonly nodes = new Map<string, NodeFact>();
  readonly inFlight = new Map<string, Flight>();
  readonly log: Decision[] = [];
  readonly graph: Graph;
  readonly inputs: JsonObject;

  constructor(graph: Graph, inputs: JsonObject = {}) {
    this.graph = graph;
    this.inputs = inputs;
    for (const { id } of graph.nodes) this.nodes.set(id, blank(id));
  }

  facts(reports: readonly Report[] = [], changed?: readonly string[]): Facts {
    return {
      job: {
        job_id: "job",
        status: this.status,
        inputs: this.inputs,
        paused: this.paused,
        cancel_requested: this.cancelRequested,
        context: { job_id: "job" },
        env: {},
      },
      nodes: this.nodes,
      unsettled: [...this.nodes.values()].filter((n) => !n.parent && !isSettled(n.status)).length,
      reports,
      ...(this.fanOutBlock === undefined ? {} : { fan_out_block: this.fanOutBlock }),
      ...(changed === undefined ? {} : { changed }),
    };
  }

  /** One tick: evaluate, apply, and answer what `collect` asked for, until nothing is left. */
  tick(reports: readonly Report[] = [], changed?: readonly string[]): readonly Decision[] {
    const all: Decision[] = [];
    let facts = this.facts(reports, changed);
    for (;;) {
      const decisions = evaluate(this.graph, facts, this.now);
      for (const decision of decisions) this.apply(decision);
      all.push(...decisions);
      const asked = decisions.filter((decision) => decision.type === "collect");
      if (asked.length === 0) break;
      const ids = asked.map((decision) => decision.node_id);
      const collected = new Map(ids.map((id) => [id, this.collect(id)]));
      facts = { ...this.facts([], ids), collected };
    }
    this.log.push(...all);
    return all;
  }

  succeed(flight: Flight, output: JsonObject): Report {
    const { task_id, node_id } = flight;
    return { task_id, node_id, outcome: { status: "completed", output } };
  }

  failing(flight: Flight, error: Partial<TaskError> = {}): Report {
    const { task_id, node_id } = flight;
    const full: TaskError = { code: "BOOM", message: "boom", category: "transient", ...error };
    return { task_id, node_id, outcome: { status: "failed", error: full } };
  }

  flight(nodeId: string): Flight {
    const found = [...this.inFlight.values()].find((flight) => flight.node_id === nodeId);
    if (found === undefined) throw new Error(`${nodeId} is not in flight`);
    return found;
  }

  statusOf(nodeId: string): string | undefined {
    return this.nodes.get(nodeId)?.status;
  }

  private collect(fanInId: string): Collected {
    const node = this.graph.byId.get(fanInId);
    if (node?.type !== "fan_in") throw new Error(`${fanInId} is not a fan-in`);
    const sources: Contribution[] = [];
    for (const { from } of node.incoming) {
      const fact = this.get(from.id);
      if (fact.status !== "completed") continue;
      const total = fact.fan_out?.total ?? -1;
      if (total < 0) sources.push({ node_id: from.id, index: sources.length, output: fact.output });
      for (let index = 0; index < total; index++) {
        const child = this.get(childNodeId(from.id, index));
        const failed = child.status === "failed";
        sources.push({
          node_id: child.node_id,
          index,
          output: child.output,
          error: failed ? child.error : undefined,
        });
      }
    }
    return aggregate(node.definition, sources);
  }

  private apply(decision: Decision): void {
    switch (decision.type) {
      case "start_job":
        this.setStatus("running");
        return;
      case "skip":
        this.move(decision.node_id, { status: "skipped" });
        return;
      case "ready":
      case "collect":
        this.move(decision.node_id, { status: "ready" });
        return;
      case "complete":
        this.move(decision.node_id, { status: "completed", output: decision.output });
        this.land(decision.node_id);
        this.count(decision.node_id, (c) => ({ ...c, completed: c.completed + 1 }));
        return;
      case "fail":
        this.move(decision.node_id, { status: "failed", error: decision.error });
        this.land(decision.node_id);
        this.count(decision.node_id, (c, index) => {
          const { code, message, category } = decision.error;
          const told = { node_id: decision.node_id, code, message, category };
          return {
            ...c,
            failed: c.failed + 1,
            failed_indexes: [...c.failed_indexes, index].slice(0, 20),
            first_errors: [...(c.first_errors ?? []), told].slice(0, 3),
          };
        });
        return;
      case "retry": {
        const { node_id, retry_at, retry_count, throttle_count, error } = decision;
        const attempt = this.get(node_id).attempt + 1;
        this.land(node_id);
        const status = "ready";
        this.move(node_id, { status, retry_at, retry_count, throttle_count, error, attempt });
        return;
      }
      case "dispatch":
        this.fly(decision.node_id, decision.task);
        return;
      case "expand":
        this.expand(decision);
        return;
      case "release": {
        const parent = this.get(decision.node_id);
        for (let index = decision.from; index < decision.to; index++) this.release(parent, index);
        this.nodes.set(parent.node_id, {
          ...parent,
          fan_out: { ...this.counters(parent), next_index: decision.to },
        });
        return;
      }
      case "ignore":
        return;
      case "complete_job":
        this.setStatus("completed");
        this.result = decision.result;
        return;
      case "fail_job":
        this.setStatus("failed");
        this.error = decision;
        this.stop();
        return;
      case "cancel_job":
        this.setStatus("cancelled");
        this.stop();
    }
  }

  private expand(decision: Decision & { type: "expand" }): void {
    const { node_id, from, total, params, task, dispatched } = decision;
    const before = from === 0 ? undefined : this.counters(this.get(node_id));
    const created = from + params.length;
    const counters: FanOutCounters = {
      ...(before ?? { completed: 0, failed: 0, failed_indexes: [] }),
      total,
      next_index: from + dispatched,
      ...(before === undefined && created === total ? {} : { created }),
    };
    if (from === 0) this.move(node_id, { status: "running", fan_out: counters });
    else this.nodes.set(node_id, { ...this.get(node_id), fan_out: counters });
    for (const [place, one] of params.entries()) {
      const index = from + place;
      const id = childNodeId(node_id, index);
      if (this.nodes.has(id)) throw new Error(`${id} exists already`);
      const parent = { node_id, index };
      this.nodes.set(id, { ...blank(id), status: "ready", params: one, parent });
      if (place < dispatched) this.fly(id, { ...task, params: one });
    }
  }

  private release(parent: NodeFact, index: number): void {
    const child = this.get(childNodeId(parent.node_id, index));
    const node = this.graph.byId.get(parent.node_id);
    if (node?.type !== "fan_out") throw new Error(`${parent.node_id} is not a fan-out`);
    const { handler, queue, timeout_seconds } = node.definition.task;
    this.fly(child.node_id, { handler, queue, timeout_seconds, params: child.params ?? {} });
  }

  private fly(nodeId: string, task: TaskOrder): void {
    const { attempt } = this.get(nodeId);
    const id = taskId("job", nodeId, attempt);
    if (this.inFlight.has(id)) throw new Error(`${id} was dispatched twice`);
    this.move(nodeId, { status: "dispatched", params: task.params, retry_at: undefined });
    this.inFlight.set(id, { task_id: id, node_id: nodeId, attempt, task });
  }

  private land(nodeId: string): void {
    this.inFlight.delete(taskId("job", nodeId, this.get(nodeId).attempt));
  }

  private count(
    nodeId: string,
    change: (counters: FanOutCounters, index: number) => FanOutCounters,
  ): void {
    const { parent } = this.get(nodeId);
    if (parent === undefined) return;
    const fact = this.get(parent.node_id);
    const fan_out = change(this.counters(fact), parent.index);
    this.nodes.set(fact.node_id, { ...fact, fan_out });
  }

  private counters(fact: NodeFact): FanOutCounters {
    if (fact.fan_out === undefined) throw new Error(`${fact.node_id} has no children`);
    return fact.fan_out;
  }

  private stop(): void {
    for (const fact of this.nodes.values()) {
      if (!isSettled(fact.status)) this.move(fact.node_id, { status: "cancelled" });
    }
    this.inFlight.clear();
  }

  private move(nodeId: string, change: Partial<NodeFact>): void {
    const fact = this.get(nodeId);
    const to = change.status ?? fact.status;
    if (to !== fact.status && !mayBecome(nodeMachine, fact.status, to)) {
      throw new Error(`${nodeId} may not go from ${fact.status} to ${to}`);
    }
    this.nodes.set(nodeId, { ...fact, ...change });
  }

  private setStatus(to: JobStatus): void {
    if (!mayBecome(jobMachine, this.status, to)) {
      throw new Error(`the job may not go from ${this.status} to ${to}`);
    }
    this.status = to;
  }

  private get(nodeId: string): NodeFact {
    const fact = this.nodes.get(nodeId);
    if (fact === undefined) throw new Error(`no node ${nodeId}`);
    return fact;
  }
}

function blank(nodeId: string): NodeFact {
  return { node_id: nodeId, status: "pending", attempt: 0, retry_count: 0, throttle_count: 0 };
}
