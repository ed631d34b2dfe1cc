import type { Broker } from "../../adapters/broker/broker.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import type { Metrics } from "../../adapters/http/metrics.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  countJobs,
  listOrchestrators,
  listWorkers,
  oldestOpenJobSeconds,
} from "../../adapters/postgres/queries/fleet.ts";
import { countMatchingJobs } from "../../adapters/postgres/queries/jobs.ts";
import {
  readFailures,
  readNodeMetrics,
  readThroughput,
  readWorkflowMetrics,
} from "../../adapters/postgres/queries/metrics.ts";
import type { TableSize } from "../../adapters/postgres/queries/retention.ts";
import { readRetentionTotals, readTableSizes } from "../../adapters/postgres/queries/retention.ts";
import type { metricContracts } from "../../core/api/metrics.ts";
import type { EngineStatus } from "./check-readiness.ts";
import { tickAge } from "./check-readiness.ts";
import type { Share } from "./share-reading.ts";

export interface MetricRouteDeps {
  readonly db: Database;
  readonly broker: Pick<Broker, "depth" | "outside">;
  readonly queues: () => readonly string[];
  /** The registry of this process; ticks and HTTP durations are counted there. */
  readonly metrics: Metrics;
  readonly status: () => EngineStatus;
  readonly share: Share;
}

export function metricRoutes(deps: MetricRouteDeps): Handlers<typeof metricContracts> {
  const { db } = deps;
  const measure = deps.share(createGauges(deps));
  return {
    getWorkflowMetrics: async ({ query }) => ({
      items: await readWorkflowMetrics(db, query),
      next_cursor: null,
    }),
    getNodeMetrics: async ({ params, query }) => ({
      items: await readNodeMetrics(db, params.workflow_id, query.days),
      next_cursor: null,
    }),
    getFailures: async ({ query }) => ({ items: await readFailures(db, query), next_cursor: null }),
    getThroughput: async ({ query }) => ({
      items: await readThroughput(db, query),
      next_cursor: null,
    }),
    countJobs: async ({ query }) => countMatchingJobs(db, query),
    getPrometheus: async () => {
      await measure();
      return deps.metrics.render();
    },
  };
}

/** Registers the figures that are counted in the database; the answered function counts them anew. */
function createGauges(deps: MetricRouteDeps): () => Promise<void> {
  const { db, broker, queues, metrics, status } = deps;
  const jobs = metrics.gauge("jobs", "Jobs by status.", ["status"]);
  const messages = metrics.gauge("queue_messages", "Messages by queue and state.", [
    "queue",
    "state",
  ]);
  const oldest = metrics.gauge(
    "queue_oldest_seconds",
    "How long the oldest ready message has waited.",
    ["queue"],
  );
  const single = (name: string, help: string) => {
    const gauge = metrics.gauge(name, help, []);
    return (value: number) => {
      gauge.set([{ labels: {}, value }]);
    };
  };
  const setWorkers = single("workers", "Live workers.");
  const setSlots = single("worker_slots", "Tasks that live workers can run at once.");
  const setBusy = single("worker_busy", "Tasks that live workers run now.");
  const setOrchestrators = single("orchestrators", "Live orchestrators.");
  const setTickAge = single("engine_tick_age_seconds", "Time since the last tick of the engine.");
  const setQuarantined = single(
    "engine_quarantined_jobs",
    "Jobs that could not be settled and are left out for a while.",
  );
  const setOldestJob = single(
    "oldest_open_job_seconds",
    "Age of the oldest job that has not ended.",
  );
  const setUnsent = single(
    "outbox_messages",
    "Messages that wait in PostgreSQL to be sent to an outside broker; 0 without one.",
  );
  const setLag = single(
    "outbox_lag_seconds",
    "Age of the oldest message that waits to be sent to an outside broker; 0 without one.",
  );
  const setConnected = single(
    "broker_connected",
    "Whether this orchestrator reaches its broker: 1 or 0.",
  );
  const sizes = metrics.gauge("table_bytes", "Bytes of a table with its indexes.", ["table"]);
  const live = metrics.gauge("table_rows", "Rows of a table, as the server estimates.", ["table"]);
  const dead = metrics.gauge("table_dead_rows", "Rows that VACUUM has not removed yet.", ["table"]);
  const removed = metrics.gauge("retention_removed_rows", "Rows that retention has removed.", [
    "class",
  ]);
  const archived = metrics.gauge("retention_archived_rows", "Rows that retention has archived.", [
    "class",
  ]);
  const states = ["ready", "delayed", "in_flight", "dead"] as const;

  return async () => {
    const [tables, totals, statuses, oldestJob, workers, orchestrators, outside, depths] =
      await Promise.all([
        readTableSizes(db),
        readRetentionTotals(db),
        countJobs(db),
        oldestOpenJobSeconds(db),
        listWorkers(db),
        listOrchestrators(db),
        broker.outside?.(),
        Promise.all(queues().map(async (queue) => ({ queue, ...(await broker.depth(queue)) }))),
      ]);
    const alive = workers.filter((worker) => worker.alive);
    jobs.set(Object.entries(statuses).map(([status, value]) => ({ labels: { status }, value })));
    messages.set(
      depths.flatMap((depth) =>
        states.map((state) => ({ labels: { queue: depth.queue, state }, value: depth[state] })),
      ),
    );
    oldest.set(
      depths.map(({ queue, oldest_seconds }) => ({
        labels: { queue },
        value: oldest_seconds ?? 0,
      })),
    );
    const byTable = (value: (size: TableSize) => number) =>
      tables.map((size) => ({ labels: { table: size.table }, value: value(size) }));
    sizes.set(byTable(({ bytes }) => bytes));
    live.set(byTable(({ rows }) => rows));
    dead.set(byTable(({ dead_rows }) => dead_rows));
    removed.set(
      totals.map((each) => ({ labels: { class: each.class }, value: each.removed_rows })),
    );
    archived.set(
      totals.map((each) => ({ labels: { class: each.class }, value: each.archived_rows })),
    );
    setUnsent(outside?.unsent ?? 0);
    setLag(outside?.lag_seconds ?? 0);
    setConnected(outside?.connected === false ? 0 : 1);
    setTickAge(tickAge(status()) / 1000);
    setQuarantined(status().quarantined_jobs);
    setOldestJob(oldestJob);
    setWorkers(alive.length);
    setSlots(alive.reduce((sum, { slots }) => sum + slots, 0));
    setBusy(alive.reduce((sum, { busy }) => sum + busy, 0));
    setOrchestrators(orchestrators.filter((each) => each.alive).length);
  };
}
