import type { Metrics } from "../adapters/http/metrics.ts";
import { createMetrics } from "../adapters/http/metrics.ts";

/** In seconds: an echo takes a millisecond, a large raster hours. */
const taskBuckets = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300, 1800, 7200];

/** How a task ended for this worker. `lost`: another worker has it, or its job has ended. */
export type TaskOutcome = "completed" | "failed" | "stopped" | "lost";

export interface WorkerMetrics {
  readonly metrics: Metrics;
  readonly observe: (handler: string, outcome: TaskOutcome, seconds: number) => void;
}

export function createWorkerMetrics(slots: number, busy: () => number): WorkerMetrics {
  const metrics = createMetrics();
  const durations = metrics.histogram(
    "task_duration_seconds",
    "How long tasks took on this worker, by handler and outcome; lost: the lease was lost.",
    ["handler", "outcome"],
    taskBuckets,
  );
  let lost = 0;
  metrics.counter("leases_lost_total", "Tasks whose lease this worker lost.", () => lost);
  const gauge = metrics.gauge("task_slots", "Tasks that this worker runs at once.", ["state"]);
  return {
    metrics: {
      ...metrics,
      render: () => {
        const running = busy();
        gauge.set([
          { labels: { state: "busy" }, value: running },
          { labels: { state: "free" }, value: slots - running },
        ]);
        return metrics.render();
      },
    },
    observe(handler, outcome, seconds) {
      if (outcome === "lost") lost++;
      durations.observe({ handler, outcome }, seconds);
    },
  };
}
