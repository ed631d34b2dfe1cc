import type { Metric } from "../../adapters/http/prometheus.ts";
import type { EngineCounters } from "./start-engine.ts";

const help: Record<keyof EngineCounters, string> = {
  ticks: "Transactions that looked for work.",
  results: "Results of tasks that were processed.",
  jobsSettled: "Jobs that ticks evaluated.",
  jobsClaimed: "Jobs taken over from owners that were gone.",
  recovered: "Tasks failed because their worker did not report them.",
};

export function engineMetrics(counters: Readonly<EngineCounters>): readonly Metric[] {
  return (Object.keys(help) as (keyof EngineCounters)[]).map((key) => ({
    name: `rmhdag_engine_${key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_total`,
    help: help[key],
    type: "counter",
    samples: [{ labels: {}, value: counters[key] }],
  }));
}
