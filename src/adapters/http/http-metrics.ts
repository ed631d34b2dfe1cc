import type { Metric, Sample } from "./prometheus.ts";
import type { Timing } from "./server.ts";

/** Seconds. Reads take milliseconds; what takes longer than ten seconds is wrong anyway. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly buckets: number[];
  sum: number;
  count: number;
}

export interface HttpMetrics {
  observe(timing: Timing): void;
  collect(): Metric;
}

/** Durations by contract. Paths are those of the contracts, so the number of series is bounded. */
export function createHttpMetrics(): HttpMetrics {
  const all = new Map<string, Series>();
  return {
    observe: ({ method, path, status, seconds }) => {
      const key = `${method} ${path} ${status}`;
      const series = all.get(key) ?? {
        labels: { method, path, status: String(status) },
        buckets: bounds.map(() => 0),
        sum: 0,
        count: 0,
      };
      all.set(key, series);
      series.sum += seconds;
      series.count++;
      bounds.forEach((bound, index) => {
        if (seconds <= bound) series.buckets[index] = (series.buckets[index] ?? 0) + 1;
      });
    },
    collect: () => ({
      name: "rmhdag_http_request_duration_seconds",
      help: "How long requests took, by contract and status.",
      type: "histogram",
      samples: [...all.values()].flatMap(toSamples),
    }),
  };
}

function toSamples({ labels, buckets, sum, count }: Series): Sample[] {
  const bucket = (le: string, value: number): Sample => ({
    suffix: "_bucket",
    labels: { ...labels, le },
    value,
  });
  return [
    ...buckets.map((value, index) => bucket(String(bounds[index]), value)),
    bucket("+Inf", count),
    { suffix: "_sum", labels, value: sum },
    { suffix: "_count", labels, value: count },
  ];
}
