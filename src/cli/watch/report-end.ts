import type { Job } from "../../core/api/job-schemas.ts";
import { print, say } from "../common/output.ts";
import { between, stripControlCharacters } from "../common/format.ts";

/** Prints below the tree: the result of a completed job, or why the job did not complete. */
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
    say(`See its log: rmhdag logs ${job.job_id}`);
    say(`Run the failed nodes again: rmhdag jobs retry ${job.job_id}`);
  }
}

/** Describes the node that failed first: later failures follow from it. */
export function firstFailure(job: Job): string[] {
  if (job.status === "cancelled") {
    return job.cancel_reason === null
      ? []
      : [`Reason: ${stripControlCharacters(job.cancel_reason)}`];
  }
  const failed = job.nodes
    .filter(({ status, error }) => status === "failed" && error !== null)
    .toSorted((a, b) => (a.completed_at ?? "").localeCompare(b.completed_at ?? ""))[0];
  if (failed?.error != null) {
    const { code, message } = failed.error;
    const tries = failed.retry_count > 0 ? ` after ${failed.retry_count + 1} attempts` : "";
    return [
      `First failure: ${failed.node_id}${tries}`,
      `  ${code}: ${stripControlCharacters(message)}`,
    ];
  }
  if (job.error !== null) {
    const { code, message, node_id: node } = job.error;
    const at = node === null ? "" : ` at ${node}`;
    return [`Failure${at}: ${code === null ? "" : `${code}: `}${stripControlCharacters(message)}`];
  }
  return [];
}
