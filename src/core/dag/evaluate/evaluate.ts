import type { Json } from "../../model/json.ts";
import { isFinished } from "../../model/job.ts";
import type { TaskError } from "../../model/task.ts";
import { acceptReport, ignore } from "./accept-report.ts";
import { beginNode } from "./begin-node.ts";
import type { Decision } from "./decision.ts";
import { Evaluation } from "./evaluation.ts";
import type { Facts, NodeFact } from "./facts.ts";
import { watchFanOut } from "./fan-out.ts";
import type { Graph, GraphNode } from "../graph.ts";
import { inGraphOrder, whereToLook } from "./worklist.ts";
import { judgeJoin } from "./join.ts";
import { explainAt, render } from "../language/template.ts";

/**
 * Decides what happens next in a job: recorded facts and the time in, decisions out.
 *
 * - pure: the same arguments give the same decisions;
 * - total: a bad template or a foreign result is a decision, never an exception;
 * - quiet: once its decisions are applied, it returns nothing until there is a new fact;
 * - blind to order: the order in which results arrived does not show in what it decides;
 * - frugal: it looks at what `facts.changed` and `facts.reports` name and at what follows from
 *   that, so its cost grows with what changed and not with the size of the job.
 *
 * Nodes that the orchestrator settles itself (start, end, conditional, fan-out, fan-in) are settled
 * within the same evaluation, so a chain of them costs no round trip.
 */
export function evaluate(graph: Graph, facts: Facts, now: number): readonly Decision[] {
  return evaluateJob(graph, facts, now).decisions;
}

/** The decisions, and the facts after they are applied. */
export interface Evaluated {
  readonly decisions: readonly Decision[];
  /**
   * Nodes that changed. Children that an expansion creates or a release dispatches are not
   * included.
   */
  readonly changes: ReadonlyMap<string, NodeFact>;
  readonly unsettled: number;
}

export function evaluateJob(graph: Graph, facts: Facts, now: number): Evaluated {
  const { job, unsettled } = facts;
  if (isFinished(job.status)) {
    const decisions = ignoreAll(facts, `the job is already ${job.status}`);
    return { decisions, changes: new Map(), unsettled };
  }
  if (job.cancel_requested !== undefined) {
    const ignored = ignoreAll(facts, "the job is being cancelled");
    const cancel: Decision = { type: "cancel_job", reason: job.cancel_requested };
    return { decisions: [...ignored, cancel], changes: new Map(), unsettled };
  }

  const evaluation = new Evaluation(graph, facts);
  for (const report of inGraphOrder(graph, facts)) acceptReport(evaluation, facts, report, now);
  for (const node of whereToLook(graph, facts)) evaluation.work.add(node);
  for (let item = evaluation.work.take(); item !== undefined; item = evaluation.work.take()) {
    // Nothing new starts once the job is certain to fail.
    if (evaluation.failure !== undefined) break;
    const node = graph.byId.get(item.node_id);
    if (node !== undefined) considerNode(evaluation, facts, node, now);
    else considerChild(evaluation, facts, item.node_id, now);
  }
  finish(graph, evaluation);

  const { changes } = evaluation;
  // A pending job starts even without another decision: a job that inherits results may only wait.
  const starts = job.status === "pending";
  const decisions: readonly Decision[] = starts
    ? [{ type: "start_job" }, ...evaluation.decisions]
    : evaluation.decisions;
  return { decisions, changes, unsettled: evaluation.unsettled };
}

function considerNode(evaluation: Evaluation, facts: Facts, node: GraphNode, now: number): void {
  const fact = evaluation.factOf(node);
  switch (fact.status) {
    case "pending": {
      const verdict = judgeJoin(node, (other) => evaluation.factOf(other));
      if (verdict === "skip") evaluation.skip(node, fact, "no live edge leads here");
      else if (verdict === "ready") beginNode(evaluation, facts, node, fact);
      return;
    }
    case "ready":
      if (fact.retry_at !== undefined && fact.retry_at > now) return;
      beginNode(evaluation, facts, node, fact);
      return;
    case "running":
      if (node.type === "fan_out") watchFanOut(evaluation, facts, node, fact);
      return;
    case "dispatched":
    case "completed":
    case "failed":
    case "skipped":
    case "cancelled":
      return;
  }
}

/** Dispatches a child whose retry is due. Its parent releases the children that wait for a slot. */
function considerChild(evaluation: Evaluation, facts: Facts, childId: string, now: number): void {
  const fact = evaluation.fact(childId);
  const node = fact && evaluation.graphNodeOf(fact);
  if (fact?.status !== "ready" || fact.retry_at === undefined || fact.retry_at > now) return;
  if (node?.type !== "fan_out" || facts.job.paused) return;
  evaluation.dispatch(node.definition.task, fact, fact.params ?? {});
}

function finish(graph: Graph, evaluation: Evaluation): void {
  const { decisions, failure } = evaluation;
  if (failure !== undefined) {
    decisions.push({ type: "fail_job", ...failure });
  } else if (evaluation.unsettled === 0) {
    const result = jobResult(graph, evaluation);
    if (result.ok) {
      decisions.push({ type: "complete_job", result: result.value });
    } else {
      const { message } = result;
      const error: TaskError = { code: "OUTPUTS_FAILED", message, category: "permanent" };
      decisions.push({ type: "fail_job", node_id: undefined, error });
    }
  }
}

function jobResult(
  graph: Graph,
  evaluation: Evaluation,
): { ok: true; value: Json } | { ok: false; message: string } {
  if (graph.outputs !== undefined) {
    const rendered = render(graph.outputs, evaluation.context(undefined));
    return rendered.ok ? rendered : { ok: false, message: explainAt("output", rendered) };
  }
  const outputs = graph.results
    .map((node) => evaluation.factOf(node))
    .filter((fact) => fact.status === "completed")
    .map((fact): [string, Json] => [fact.node_id, fact.output ?? {}]);
  return { ok: true, value: Object.fromEntries(outputs) };
}

function ignoreAll(facts: Facts, reason: string): readonly Decision[] {
  return facts.reports.map((report) => ignore(report, reason));
}
