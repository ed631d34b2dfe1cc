import type { Broker } from "../../adapters/broker/broker.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import type { Metric } from "../../adapters/http/prometheus.ts";
import { renderMetrics } from "../../adapters/http/prometheus.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  countJobs,
  listOrchestrators,
  listWorkers,
} from "../../adapters/postgres/queries/fleet.ts";
import { countMatchingJobs } from "../../adapters/postgres/queries/jobs.ts";
import {
  readFailures,
  readNodeMetrics,
  readThroughput,
  readWorkflowMetrics,
} from "../../adapters/postgres/queries/metrics.ts";
import type { metricContracts } from "../../core/api/metrics.ts";

export interface MetricRouteDeps {
  readonly db: Database;
  readonly broker: Pick<Broker, "depth">;
  readonly queues: readonly string[];
  /** Metrics that this process counts itself: ticks, HTTP durations. */
  readonly metrics: () => readonly Metric[];
}

export function metricRoutes(deps: MetricRouteDeps): Handlers<typeof metricContracts> {
  const { db } = deps;
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
    getPrometheus: async () => renderMetrics([...(await readGauges(deps)), ...deps.metrics()]),
  };
}

async function readGauges({ db, broker, queues }: MetricRouteDeps): Promise<Metric[]> {
  const [jobs, workers, orchestrators, depths] = await Promise.all([
    countJobs(db),
    listWorkers(db),
    listOrchestrators(db),
    Promise.all(queues.map(async (queue) => ({ queue, ...(await broker.depth(queue)) }))),
  ]);
  const gauge = (name: string, help: string, samples: Metric["samples"]): Metric => ({
    name: `rmhdag_${name}`,
    help,
    type: "gauge",
    samples,
  });
  const alive = workers.filter((worker) => worker.alive);
  const states = ["ready", "delayed", "in_flight", "dead"] as const;
  return [
    gauge(
      "jobs",
      "Jobs by status.",
      Object.entries(jobs).map(([status, value]) => ({ labels: { status }, value })),
    ),
    gauge(
      "queue_messages",
      "Messages by queue and state.",
      depths.flatMap((depth) =>
        states.map((state) => ({ labels: { queue: depth.queue, state }, value: depth[state] })),
      ),
    ),
    gauge(
      "queue_oldest_seconds",
      "How long the oldest ready message has waited.",
      depths.map(({ queue, oldest_seconds }) => ({
        labels: { queue },
        value: oldest_seconds ?? 0,
      })),
    ),
    gauge("workers", "Live workers.", [{ value: alive.length }]),
    gauge("worker_slots", "Tasks that live workers can run at once.", [
      { value: alive.reduce((sum, { slots }) => sum + slots, 0) },
    ]),
    gauge("worker_busy", "Tasks that live workers run now.", [
      { value: alive.reduce((sum, { busy }) => sum + busy, 0) },
    ]),
    gauge("orchestrators", "Live orchestrators.", [
      { value: orchestrators.filter((each) => each.alive).length },
    ]),
  ];
}
