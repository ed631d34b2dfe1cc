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
  render(): Promise<string>;
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
    // Without the empty lines that the library puts between metrics.
    render: async () => (await registry.metrics()).replaceAll("\n\n", "\n"),
  };
}
