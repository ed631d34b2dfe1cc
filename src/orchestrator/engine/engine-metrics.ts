import type { Metrics } from "../../adapters/http/metrics.ts";
import type { LinkCounters } from "../links/links.ts";
import type { EngineCounters } from "./start-engine.ts";

type Counters = EngineCounters & LinkCounters;

const help: Record<keyof Counters, string> = {
  ticks: "Transactions that looked for work.",
  results: "Results of tasks that were processed.",
  jobsSettled: "Jobs that ticks evaluated.",
  jobsClaimed: "Jobs taken over from owners that were gone.",
  recovered: "Tasks failed because their worker did not report them.",
  handed: "Tasks handed to a linked worker.",
  told: "Results told by a linked worker.",
};

export function registerEngineMetrics(metrics: Metrics, read: () => Readonly<Counters>): void {
  for (const key of Object.keys(help) as (keyof Counters)[]) {
    const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    metrics.counter(`engine_${name}_total`, help[key], () => read()[key]);
  }
}
