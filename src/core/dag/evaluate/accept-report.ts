import { taskId } from "../../model/node.ts";
import type { Decision } from "./decision.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Facts, NodeFact, Report } from "./facts.ts";
import { decideRetry } from "./retry.ts";
import { taskOf } from "../../model/workflow.ts";

/**
 * Settles or retries the node that a report is about. A report counts only for the attempt that the
 * node is waiting for; any other is ignored.
 */
export function acceptReport(
  evaluation: Evaluation,
  facts: Facts,
  report: Report,
  now: number,
): void {
  const fact = evaluation.fact(report.node_id);
  const node = fact && evaluation.graphNodeOf(fact);
  const refusal = refusalOf(facts, fact, report);
  if (fact === undefined || node === undefined || refusal !== undefined) {
    evaluation.decisions.push(ignore(report, refusal ?? "the job has no such node"));
    return;
  }
  if (report.outcome.status === "completed") {
    evaluation.complete(node, fact, report.outcome.output);
    return;
  }
  const { error } = report.outcome;
  const policy = taskOf(node.definition)?.retry;
  const verdict = policy && decideRetry(policy, error, fact, report.task_id, now);
  if (verdict?.retry) evaluation.retry(node, fact, verdict, error, verdict.retry_at);
  else evaluation.fail(node, fact, error);
}

function refusalOf(facts: Facts, fact: NodeFact | undefined, report: Report): string | undefined {
  if (fact === undefined) return "the job has no such node";
  if (report.task_id !== taskId(facts.job.job_id, fact.node_id, fact.attempt)) {
    return `attempt ${fact.attempt} is the current one`;
  }
  if (fact.status !== "dispatched" && fact.status !== "running") {
    return `the node is ${fact.status}`;
  }
  return undefined;
}

export function ignore({ node_id, task_id }: Report, reason: string): Decision {
  return { type: "ignore", node_id, task_id, reason };
}
