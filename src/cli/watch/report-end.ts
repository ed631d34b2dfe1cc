import type { Job } from "../../core/api/job-schemas.ts";
import { attemptsOf } from "../../core/model/attempts.ts";
import type { Json } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import type { TaskError } from "../../core/model/task.ts";
import { print, say } from "../common/output.ts";
import { between, grouped, stripControlCharacters } from "../common/format.ts";

/** Prints below the tree: the result of a completed job, or why the job did not complete. */
export function reportEnd(job: Job): void {
  const took = between(job.started_at ?? job.created_at, job.completed_at) ?? "";
  if (job.status === "completed") {
    print(`completed in ${took}`);
    const bytes = sizeOfLarge(job);
    if (bytes !== undefined) {
      print(`The result has ${grouped(bytes)} bytes: rmhdag jobs result ${job.job_id}`);
      return;
    }
    const result = Object.entries(job.result_data ?? {}).filter(([key]) => key !== "_provenance");
    if (result.length > 0) print(JSON.stringify(Object.fromEntries(result), null, 2));
    return;
  }
  say(`${job.status} after ${took}`);
  for (const line of firstFailure(job)) say(line);
  if (job.status === "failed") {
    say(`See its log: rmhdag logs ${job.job_id}`);
    say(adviceFor(job));
  }
}

/** A large result is given as the address of its route; undefined: the job holds the result itself. */
export function sizeOfLarge({ result_data }: Pick<Job, "result_data">): number | undefined {
  const { $ref, bytes } = result_data ?? {};
  const isLarge = typeof $ref === "string" && $ref.startsWith("/api/v1/jobs/");
  return isLarge && typeof bytes === "number" ? bytes : undefined;
}

/** Errors that the orchestrator finds itself while it follows the definition. */
const definitionErrors: ReadonlySet<string> = new Set([
  "TEMPLATE_FAILED",
  "CONDITION_FAILED",
  "FAN_OUT_SOURCE",
  "AGGREGATION_FAILED",
  "OUTPUTS_FAILED",
]);

/** Says how to go on after a failure. A plain retry is advised only if it can end differently. */
export function adviceFor(job: Job): string {
  const retry = `rmhdag jobs retry ${job.job_id}`;
  const errors = job.nodes.flatMap(({ error }) => (error === null ? [] : [error]));
  const codes = [job.error?.code, ...errors.map(({ code }) => code)];
  if (codes.some((code) => code != null && definitionErrors.has(code))) {
    return `Correct the workflow, then run the rest with its new version: ${retry} --latest`;
  }
  if (errors.length > 0 && errors.every(isPermanent)) {
    return (
      "The error is permanent: the same task would fail again. Remove its cause first; " +
      `if that is in the workflow, go on with its new version: ${retry} --latest`
    );
  }
  return `Run the failed nodes again: ${retry}`;
}

/** A fan-out fails for good, but the errors of its children may have been temporary. */
function isPermanent({ category, details }: TaskError): boolean {
  const children = details?.["first_errors"];
  if (!Array.isArray(children) || children.length === 0) return category === "permanent";
  return (children as readonly Json[]).every(
    (child) => isJsonObject(child) && child["category"] === "permanent",
  );
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
    const attempts = attemptsOf(failed);
    const tries = attempts > 1 ? ` after ${attempts} attempts` : "";
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
