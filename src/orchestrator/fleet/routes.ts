import type { Broker, DeadLetter, QueueDepth } from "../../adapters/broker/broker.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  countJobs,
  countOwned,
  listOrchestrators,
  listWorkers,
} from "../../adapters/postgres/queries/fleet.ts";
import type { fleetContracts } from "../../core/api/fleet.ts";
import type { queueContracts } from "../../core/api/queues.ts";
import { Problem } from "../../core/errors.ts";
import { taskMessage } from "../../core/messages.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { Mask } from "../../core/model/mask.ts";
import type { EngineStatus } from "./check-readiness.ts";
import { capacityOf, shareSlots } from "../../core/queue-capacity.ts";
import type { CommandRouteDeps } from "./command-routes.ts";
import { commandRoutes } from "./command-routes.ts";
import type { HealthRouteDeps } from "./health-routes.ts";
import { healthRoutes } from "./health-routes.ts";
import type { MetricRouteDeps } from "./metrics-routes.ts";
import { metricRoutes } from "./metrics-routes.ts";
import type { SchemaRouteDeps } from "./schema-routes.ts";
import { schemaRoutes } from "./schema-routes.ts";
import type { Share } from "./share-reading.ts";

export type FleetRouteDeps = ProgramRouteDeps &
  QueueRouteDeps &
  CommandRouteDeps &
  HealthRouteDeps &
  MetricRouteDeps &
  SchemaRouteDeps;

/** What operators need: programs, queues, commands, health, metrics and the schema. */
export function fleetRoutes(given: FleetRouteDeps) {
  const deps = { ...given, broker: { ...given.broker, depth: shareDepths(given) } };
  return {
    ...programRoutes(deps),
    ...queueRoutes(deps),
    ...commandRoutes(deps),
    ...healthRoutes(deps),
    ...metricRoutes(deps),
    ...schemaRoutes(deps),
  };
}

/** Counting the messages of a long queue takes milliseconds, and three routes show the counts. */
function shareDepths({ broker, share }: QueueRouteDeps): Broker["depth"] {
  const readers = new Map<string, () => Promise<QueueDepth>>();
  return (queue) => {
    const read = readers.get(queue) ?? share(() => broker.depth(queue));
    readers.set(queue, read);
    return read();
  };
}

interface ProgramRouteDeps {
  readonly db: Database;
  readonly version: string;
  readonly status: () => EngineStatus;
}

/** Orchestrators and workers. */
function programRoutes({ db, version, status }: ProgramRouteDeps): Handlers<typeof fleetContracts> {
  return {
    listWorkers: async () => ({
      items: (await listWorkers(db)).map((worker) => ({
        ...withTimesAsText(worker),
        queue_slots: Object.fromEntries(shareSlots(worker.slots, worker.queues)),
      })),
      next_cursor: null,
    }),
    listOrchestrators: async () => ({
      items: (await listOrchestrators(db)).map(withTimesAsText),
      next_cursor: null,
    }),
    getOrchestratorStatus: async () => {
      const now = status();
      const [jobs, { owned, unowned }] = await Promise.all([
        countJobs(db),
        countOwned(db, now.owner_id),
      ]);
      return { ...now, version, owned_jobs: owned, unowned_jobs: unowned, jobs };
    },
  };
}

function withTimesAsText<Row extends { started_at: Date; heartbeat_at: Date }>(row: Row) {
  return {
    ...row,
    started_at: row.started_at.toISOString(),
    heartbeat_at: row.heartbeat_at.toISOString(),
  };
}

interface QueueRouteDeps {
  readonly db: Database;
  readonly broker: Pick<Broker, "depth" | "deadLetters" | "requeue">;
  /** Every queue, the job queue among them. */
  readonly queues: () => readonly string[];
  readonly share: Share;
}

/** A broker can list dead letters but not look one up, so one is searched among this many. */
const mostSearched = 1000;

/** Queues and their dead letters. */
function queueRoutes({
  db,
  broker,
  queues,
  share,
}: QueueRouteDeps): Handlers<typeof queueContracts> {
  function requireQueue(queue: string): void {
    if (queues().includes(queue)) return;
    const known = queues().join(", ");
    throw new Problem("QUEUE_NOT_FOUND", `There is no queue "${queue}"; there are: ${known}.`);
  }

  const readQueues = share(async () => {
    const workers = (await listWorkers(db)).filter((worker) => worker.alive);
    return Promise.all(
      queues().map(async (queue) => {
        const depth = await broker.depth(queue);
        return { queue, ...depth, ...capacityOf(queue, depth, workers) };
      }),
    );
  });

  return {
    getQueues: async () => ({ items: await readQueues(), next_cursor: null }),

    listDeadLetters: async ({ params: { queue }, query: { limit } }) => {
      requireQueue(queue);
      const items = (await broker.deadLetters(queue, limit)).map(copy);
      return { items, next_cursor: null };
    },

    getDeadLetter: async ({ params: { queue, id } }) => {
      requireQueue(queue);
      const letters = await broker.deadLetters(queue, mostSearched);
      const letter = letters.find((each) => each.id === id);
      if (letter !== undefined) return copy(letter);
      throw new Problem("NOT_FOUND", `Queue "${queue}" has no dead letter "${id}".`);
    },

    requeueDeadLetters: async ({ params: { queue }, body: { ids } }) => {
      requireQueue(queue);
      return { requeued: await broker.requeue(queue, ids) };
    },
  };
}

function copy({ id, reason, detail, delivery_count, died_at, body }: DeadLetter) {
  return { id, reason, detail, delivery_count, died_at, body: hideSecrets(body) };
}

/** The message of a task names its secrets. */
function hideSecrets(body: string): string {
  if (!body.includes('"secrets"')) return body;
  const parsed = taskMessage.safeParse(parseJson(body));
  if (!parsed.success || parsed.data.secrets === undefined) return body;
  const { secrets, ...message } = parsed.data;
  return JSON.stringify(new Mask(secrets).value(message as unknown as JsonObject));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
