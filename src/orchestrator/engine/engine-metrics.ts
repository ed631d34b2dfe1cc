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

/** In seconds: a tick of pushed reports takes a millisecond, one that reads the database some. */
const tickBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const callbackBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The durations that engine and services tell as they happen. */
export function createEngineDurations(metrics: Metrics) {
  return {
    ticks: metrics.histogram(
      "engine_tick_duration_seconds",
      "How long ticks took that settled pushed reports, or work in the database.",
      ["kind"],
      tickBuckets,
    ),
    callbacks: metrics.histogram(
      "callback_duration_seconds",
      "How long attempts to send a callback took, by outcome.",
      ["outcome"],
      callbackBuckets,
    ),
  };
}

export function registerEngineMetrics(metrics: Metrics, read: () => Readonly<Counters>): void {
  for (const key of Object.keys(help) as (keyof Counters)[]) {
    const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    metrics.counter(`engine_${name}_total`, help[key], () => read()[key]);
  }
}
