import { leaseHeader } from "../adapters/broker/broker.ts";
import { createDebouncedWriter } from "../adapters/runtime/debounced-writer.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { ApiError } from "../core/api/api-error.ts";
import type { Client } from "../core/api/client.ts";
import { isJsonObject } from "../core/model/json.ts";
import type { JsonObject } from "../core/model/json.ts";
import type { SavedCheckpoint } from "./define-handler.ts";
import { toReport } from "./postgres-reporter.ts";
import type { Reporter, RunningTask } from "./reporter.ts";
import { splitBySize } from "./split-by-size.ts";

type Line = Parameters<Client["logTasks"]>[0]["body"]["lines"][number];

/** Reports of a worker without a database: results through the delivery, the rest by its lease. */
export function createHttpTaskReporter(options: {
  readonly client: Client;
  readonly workerId: string;
  readonly log: Logger;
}): Reporter {
  const { client, workerId: worker_id, log } = options;
  /** The newest checkpoint that this attempt saved; the delivery brings the one before. */
  const saved = new WeakMap<object, SavedCheckpoint>();
  const lines = createDebouncedWriter<Line>({
    what: "lines of task logs",
    delayMs: 300,
    maxWaiting: 1000,
    write: async (rows) => {
      for (const lines of splitBySize(rows, sizeOf)) {
        await client.logTasks({ body: { worker_id, lines } });
      }
    },
    log,
  });
  let lineCount = 0;

  return {
    report: (task, outcome) => task.delivery.report(toReport(task, outcome, worker_id)),
    progress({ delivery }, percent, message) {
      delivery.progress(percent, message ?? null);
    },
    loadCheckpoint: async ({ delivery }) => saved.get(delivery) ?? checkpointOf(delivery.body),
    async saveCheckpoint(task, phase, text) {
      const data = JSON.parse(text) as JsonObject;
      try {
        const body = { worker_id, lease: leaseOf(task), phase, data };
        await client.saveTaskCheckpoint({ body });
      } catch (error) {
        if (error instanceof ApiError && error.code === "STALE_ATTEMPT") return "lost";
        throw error;
      }
      saved.set(task.delivery, { phase, data });
      return "ok";
    },
    log(task, { level, message, data }) {
      const parsed = data === null ? null : (JSON.parse(data) as JsonObject);
      lines.add(String(lineCount++), { lease: leaseOf(task), level, message, data: parsed });
    },
    close: () => lines.close(),
  };
}

/** The fields around the text are short, and count as so many characters. */
const lineOverhead = 300;

function sizeOf(line: Line): number {
  return JSON.stringify([line.message, line.data]).length + lineOverhead;
}

function leaseOf({ delivery }: RunningTask): string {
  return String(delivery.headers[leaseHeader]);
}

function checkpointOf(body: string): SavedCheckpoint | undefined {
  const { checkpoint } = JSON.parse(body) as { checkpoint?: unknown };
  if (!isJsonObject(checkpoint)) return undefined;
  const { phase, data } = checkpoint;
  return typeof phase === "string" && isJsonObject(data) ? { phase, data } : undefined;
}
