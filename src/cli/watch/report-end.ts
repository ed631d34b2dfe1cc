import type { Job } from "../../core/api/job-schemas.ts";
import { harmless, print, say } from "../output.ts";
import { between } from "../time.ts";

/** Below the tree: the result of a job that completed, or why it did not. */
export function reportEnd(job: Job): void {
  const took = between(job.started_at ?? job.created_at, job.completed_at) ?? "";
  if (job.status === "completed") {
    print(`completed in ${took}`);
    const result = Object.entries(job.result_data ?? {}).filter(([key]) => key !== "_provenance");
    if (result.length > 0) print(JSON.stringify(Object.fromEntries(result), null, 2));
    return;
  }
  say(`${job.status} after ${took}`);
  for (const line of firstFailure(job)) say(line);
  if (job.status === "failed") {
    say(`See what it logged: rmhdag logs ${job.job_id}`);
    say(`Run again what failed: rmhdag jobs retry ${job.job_id}`);
  }
}

/** The first node that failed is the cause; those behind it only follow. */
export function firstFailure(job: Job): string[] {
  if (job.status === "cancelled") {
    return job.cancel_reason === null ? [] : [`Reason: ${harmless(job.cancel_reason)}`];
  }
  const failed = job.nodes
    .filter(({ status, error }) => status === "failed" && error !== null)
    .toSorted((a, b) => (a.completed_at ?? "").localeCompare(b.completed_at ?? ""))[0];
  if (failed?.error != null) {
    const { code, message } = failed.error;
    const tries = failed.retry_count > 0 ? ` after ${failed.retry_count + 1} attempts` : "";
    return [`First failure: ${failed.node_id}${tries}`, `  ${code}: ${harmless(message)}`];
  }
  if (job.error !== null) {
    const { code, message, node_id: node } = job.error;
    const at = node === null ? "" : ` at ${node}`;
    return [`Failure${at}: ${code === null ? "" : `${code}: `}${harmless(message)}`];
  }
  return [];
}
