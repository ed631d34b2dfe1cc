import type { Metric } from "../../adapters/http/prometheus.ts";
import type { EngineCounters } from "./start-engine.ts";

/** Counted by the push server. */
interface PushCounters {
  readonly pushed: number;
  readonly reported: number;
}

type Counters = EngineCounters & PushCounters;

const help: Record<keyof Counters, string> = {
  ticks: "Transactions that looked for work.",
  results: "Results of tasks that were processed.",
  jobsSettled: "Jobs that ticks evaluated.",
  jobsClaimed: "Jobs taken over from owners that were gone.",
  recovered: "Tasks failed because their worker did not report them.",
  pushed: "Tasks that were pushed to a connected worker.",
  reported: "Results that connected workers pushed.",
};

export function engineMetrics(counters: Readonly<Counters>): readonly Metric[] {
  return (Object.keys(help) as (keyof Counters)[]).map((key) => ({
    name: `rmhdag_engine_${key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_total`,
    help: help[key],
    type: "counter",
    samples: [{ labels: {}, value: counters[key] }],
  }));
}
