import type { Delivery, Subscription } from "../../adapters/broker/broker.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { Problem } from "../../core/errors.ts";
import { jobMessage } from "../../core/messages.ts";
import { issueText } from "../../core/model/issue-text.ts";
import type { JobDeps } from "./deps.ts";
import { prepareJob, submitJobs } from "./submit-jobs.ts";

/** Consumes the job queue. The orchestrator that receives a submission owns its job. */
export function consumeJobs(deps: JobDeps, queue: string): Promise<Subscription> {
  return deps.broker.consume(queue, { maxInFlight: 10 }, (delivery) => accept(deps, delivery));
}

/**
 * Submits the job of a message. A message that can never become a job is dead-lettered with the
 * reason; any other failure is retried. The message's own id serves as its idempotency key, so a
 * second delivery makes no second job.
 */
export async function accept(deps: JobDeps, delivery: Delivery): Promise<void> {
  const message = parse(delivery.body);
  if (!message.ok) {
    await delivery.deadLetter("InvalidMessage", message.detail);
    return;
  }
  reach("accept.before_submit");
  try {
    const request = {
      ...message.value,
      idempotency_key: message.value.idempotency_key ?? `message:${delivery.id}`,
    };
    const [answer] = await submitJobs(deps, [await prepareJob(deps, request)]);
    if (answer instanceof Problem) throw answer;
    reach("accept.before_settle");
    await delivery.complete();
    reach("accept.after_settle");
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const items = error.items.map(({ pointer, message: text }) => `${pointer}: ${text}`);
    await delivery.deadLetter(
      reasons[error.code] ?? error.code,
      [error.message, ...items].join("; "),
    );
  }
}

const reasons: Partial<Record<Problem["code"], string>> = {
  WORKFLOW_NOT_FOUND: "WorkflowNotFound",
  INVALID_WORKFLOW: "InvalidWorkflow",
  INVALID_INPUTS: "InvalidInputs",
  IDEMPOTENCY_CONFLICT: "IdempotencyConflict",
};

function parse(body: string) {
  try {
    const parsed = jobMessage.safeParse(JSON.parse(body));
    if (parsed.success) return { ok: true, value: parsed.data } as const;
    return { ok: false, detail: parsed.error.issues.map(issueText).join("; ") } as const;
  } catch {
    return { ok: false, detail: "the body is not JSON" } as const;
  }
}
