import type { Broker } from "../adapters/broker/broker.ts";
import type { Queryable } from "../adapters/postgres/queryable.ts";
import { removeWorker } from "../adapters/postgres/repositories/workers.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { parseMessage } from "./execute-task.ts";
import type { Reporter } from "./reporter.ts";
import { workerCrashed } from "../core/model/task.ts";

export interface ReplaceDependencies {
  readonly db: Queryable;
  readonly broker: Pick<Broker, "takeCrashed">;
  readonly reporter: Pick<Reporter, "report">;
  readonly log: Logger;
}

/**
 * Returns the tasks of a worker that has died to their queues, without waiting for its leases to
 * expire. The task that it ran alone made it die: its attempt fails, and its node decides about a
 * retry.
 */
export async function replaceWorker(
  { db, broker, reporter, log }: ReplaceDependencies,
  deadWorker: string,
): Promise<void> {
  for (const delivery of await broker.takeCrashed(deadWorker)) {
    const message = parseMessage(delivery.body);
    if (typeof message === "string") continue;
    const text = `The worker ${deadWorker} died while it ran this task and nothing else.`;
    log.warn({ task_id: message.task_id, handler: message.handler }, text);
    const error = { code: workerCrashed, message: text, category: "transient" } as const;
    await reporter.report({ message, delivery }, { status: "failed", error });
  }
  await removeWorker(db, deadWorker);
}
