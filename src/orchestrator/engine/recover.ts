import { maxDeliveriesExceeded } from "../../adapters/broker/broker.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import type { NodeKey } from "../../adapters/postgres/repositories/nodes.ts";
import { findDispatched } from "../../adapters/postgres/repositories/nodes.ts";
import type { FailedTask } from "../../adapters/postgres/repositories/reports.ts";
import { failTasks } from "../../adapters/postgres/repositories/reports.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { deadLettered } from "../../core/model/task.ts";
import type { EngineDeps } from "./deps.ts";

export interface Recovered {
  readonly deadLettered: number;
  readonly overdue: number;
  readonly lost: number;
  /** Where the next search for lost messages goes on; undefined: from the beginning. */
  readonly searched: NodeKey | undefined;
}

export interface RecoverOptions {
  /** How long a dispatched task may be unknown to the broker before its message counts as gone. */
  readonly messageLostSeconds: number;
  /** `searched` of the run before. */
  readonly after?: NodeKey | undefined;
}

/** How long a worker may take to report a timeout itself before the orchestrator does. */
const graceSeconds = 30;
const maxDeadLetters = 500;
/** How many nodes one run looks at for tasks whose message is gone. */
const maxSearched = 10_000;

type RecoverDeps = Pick<EngineDeps, "db" | "broker" | "ownerId">;

/** Turns tasks that ended without a report into failed results, which the evaluator decides on. */
export async function recover(
  deps: RecoverDeps,
  { messageLostSeconds, after }: RecoverOptions = { messageLostSeconds: 300 },
): Promise<Recovered> {
  reach("recover.before");
  const deadLettered = await deps.db.transaction((tx) => failDeadLettered(deps, tx));
  if (deadLettered > 0) reach("recover.dead_letters_taken");
  const overdue = await deps.db.transaction((tx) => failOverdue(deps, tx));
  const { lost, searched } = await failLost(deps, messageLostSeconds, after);
  if (deadLettered + overdue + lost > 0) reach("recover.after");
  return { deadLettered, overdue, lost, searched };
}

/**
 * Fails tasks whose message the broker dead-lettered. The dead letter stays for operators. A message
 * that was delivered too often says nothing of the task, so its node uses its retries.
 */
async function failDeadLettered({ broker }: RecoverDeps, tx: Transaction): Promise<number> {
  const dead = await broker.takeNewDeadLetters(tx, maxDeadLetters);
  const tasks = dead.map(({ id, group, deliveries, reason, detail }): FailedTask => {
    const message = `the task was given up after ${deliveries} deliveries: ${detail ?? reason}`;
    const category = reason === maxDeliveriesExceeded ? "transient" : "permanent";
    return failure(group, id, deadLettered, message, category);
  });
  return failTasks(tx, tasks);
}

/**
 * Fails tasks that ran past their timeout on a worker that did not report it: the worker hangs, or a
 * handler blocks its event loop. Time in the queue does not count, because it starts with the lease.
 */
async function failOverdue({ broker }: RecoverDeps, tx: Transaction): Promise<number> {
  const overdue = await broker.takeOverdue(tx, graceSeconds);
  const tasks = overdue.map(({ id, group, holder, started_at, timeout_seconds }): FailedTask => {
    const message = `the task ran longer than ${timeout_seconds} seconds`;
    const failed = failure(group, id, "TIMEOUT", message, "transient");
    return { ...failed, worker_id: holder, started_at };
  });
  return failTasks(tx, tasks);
}

/** Fails tasks that were dispatched long ago and whose message the broker does not know. */
async function failLost(
  { db, broker, ownerId }: RecoverDeps,
  seconds: number,
  after: NodeKey | undefined,
): Promise<Pick<Recovered, "lost" | "searched">> {
  const { tasks, last } = await findDispatched(db, ownerId, seconds, after, maxSearched);
  const messages = tasks.map(({ task_id, job_id }) => ({ id: task_id, group: job_id }));
  const missing = messages.length === 0 ? new Set<string>() : await broker.findMissing(messages);
  const message = "the task was queued, but its message is gone";
  const failed = await failTasks(
    db,
    tasks
      .filter(({ task_id }) => missing.has(task_id))
      .map(({ job_id, task_id }) => failure(job_id, task_id, "MESSAGE_LOST", message, "transient")),
  );
  return { lost: failed, searched: last };
}

function failure(
  job_id: string,
  task_id: string,
  code: string,
  message: string,
  category: string,
): FailedTask {
  return { job_id, task_id, error: { code, message, category } };
}
