/** The metrics of one server, in the text format of Prometheus. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Timing } from "./server-options.ts";

/** In seconds. Reads take milliseconds, and no request should take longer than ten seconds. */
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface Metrics {
  /** Counts a request by its contract, so that the number of series is bounded. */
  observe(timing: Timing): void;
  /** `read` gives the count at the time of a scrape. */
  counter(name: string, help: string, read: () => number): void;
  gauge<Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
  ): Measured<Label>;
  /** Durations in seconds; the labels must have few values. */
  histogram<Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
    buckets: readonly number[],
  ): Durations<Label>;
  render(): Promise<string>;
}

export interface Durations<Label extends string> {
  observe(labels: Readonly<Record<Label, string>>, seconds: number): void;
}

export interface Measured<Label extends string = never> {
  /** Replaces all samples. */
  set(samples: readonly Sample<Label>[]): void;
}

export interface Sample<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** With a registry of its own: a process may run several servers, in tests it does. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const durations = new Histogram({
    name: "rmhdag_http_request_duration_seconds",
    help: "How long requests took, by contract and status.",
    labelNames: ["method", "path", "status"],
    buckets: durationBuckets,
    registers,
  });

  registerProcess(registers);

  return {
    observe: ({ method, path, status, seconds }) => {
      durations.observe({ method, path, status }, seconds);
    },
    counter: (name, help, read) => {
      new Counter({
        name: `rmhdag_${name}`,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    },
    gauge: (name, help, labels) => {
      const gauge = new Gauge({ name: `rmhdag_${name}`, help, labelNames: labels, registers });
      return {
        set: (samples) => {
          gauge.reset();
          for (const sample of samples) gauge.set(sample.labels, sample.value);
        },
      };
    },
    histogram: (name, help, labels, buckets) =>
      new Histogram({
        name: `rmhdag_${name}`,
        help,
        labelNames: labels,
        buckets: [...buckets],
        registers,
      }),
    // Without the empty lines that the library puts between metrics.
    render: async () => (await registry.metrics()).replaceAll("\n\n", "\n"),
  };
}

/** How much this process uses of its core and its memory. */
function registerProcess(registers: Registry[]): void {
  let before = performance.eventLoopUtilization();
  new Counter({
    name: "rmhdag_process_cpu_seconds_total",
    help: "CPU time of this process, of all its threads.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: "rmhdag_process_memory_bytes",
    help: "Resident memory of this process.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "rmhdag_event_loop_busy_ratio",
    help: "Which part of the time since the last scrape the main thread was busy, 0 to 1.",
    registers,
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
  });
}
