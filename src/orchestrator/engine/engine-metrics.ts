import type { Metrics } from "../../adapters/http/metrics.ts";
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

export function registerEngineMetrics(metrics: Metrics, read: () => Readonly<Counters>): void {
  for (const key of Object.keys(help) as (keyof Counters)[]) {
    const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    metrics.counter(`engine_${name}_total`, help[key], () => read()[key]);
  }
}
