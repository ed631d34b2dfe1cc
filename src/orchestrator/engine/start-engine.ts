import { hostname } from "node:os";
import type { Subscription } from "../../adapters/broker/broker.ts";
import type { Hear } from "../../adapters/postgres/share-listener.ts";
import type { OrchestratorIdentity } from "../../adapters/postgres/repositories/ownership.ts";
import { beat, signOff, tellLinks } from "../../adapters/postgres/repositories/ownership.ts";
import type { Logger } from "../../adapters/runtime/logger.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { createService } from "../../adapters/runtime/service.ts";
import { version } from "../../adapters/runtime/version.ts";
import { consumeJobs } from "../jobs/consume-jobs.ts";
import type { EngineDeps } from "./deps.ts";
import { recover } from "./recover.ts";
import { takeOver } from "./take-over.ts";
import { settleTold } from "./settle-told.ts";
import { batchSize, tick } from "./tick.ts";
import type { TickReport } from "./tick.ts";

export interface EngineSettings {
  readonly jobQueue: string;
  readonly pollSeconds: number;
  readonly heartbeatSeconds: number;
  readonly orphanThresholdSeconds: number;
  readonly orphanScanSeconds: number;
  readonly recoverSeconds: number;
  readonly messageLostSeconds: number;
  /** Where workers reach this orchestrator directly. */
  readonly link?: OrchestratorIdentity["link"];
  /** The broker's own housekeeping. */
  readonly maintain: () => Promise<unknown>;
}

/** What has been done since the start, for status and metrics. */
export interface EngineCounters {
  ticks: number;
  results: number;
  jobsSettled: number;
  jobsClaimed: number;
  recovered: number;
}

export interface EngineStatus {
  readonly ticks: number;
  readonly last_tick_at: string | null;
  readonly last_error: string | null;
}

export interface Engine {
  status(): EngineStatus;
  readonly counters: Readonly<EngineCounters>;
  wake(): void;
  /** Something was told, and nothing else. */
  hearTold(): void;
  stop(): Promise<void>;
}

/**
 * The orchestrator's background: the tick, woken whenever something is reported or asked, and the
 * slow services that keep ownership and repair what was lost.
 */
export async function startEngine(
  deps: EngineDeps,
  settings: EngineSettings,
  hear: Hear,
  log: Logger,
): Promise<Engine> {
  const counters = { ticks: 0, results: 0, jobsSettled: 0, jobsClaimed: 0, recovered: 0 };
  let lastTickAt: string | null = null;
  let lastError: string | null = null;
  /** Something may wait that nobody told. */
  let mustLook = true;
  /** When to look in any case. */
  let lookAt = 0;
  const look = () => {
    mustLook = true;
    ticking.wake();
  };
  const { link } = settings;
  const identity = { owner_id: deps.ownerId, host: hostname(), pid: process.pid, version, link };
  // Before anything else: a job whose owner has no heartbeat is an orphan.
  await beat(deps.db, identity);

  const ticking = createService({
    name: "tick",
    log,
    intervalMs: settings.pollSeconds * 1000,
    async runOnce() {
      const report = await tickOnce().catch((error: unknown) => {
        lastError = error instanceof Error ? error.message : String(error);
        throw error;
      });
      lastTickAt = deps.clock.now().toISOString();
      counters.ticks += 1;
      counters.results += report.results;
      counters.jobsSettled += report.jobs;
      return report.more ? 0 : Math.max(0, lookAt - performance.now());
    },
  });
  /** Results that were told need no look, while nothing else is known to wait. */
  async function tickOnce(): Promise<Omit<TickReport, "next_due_ms">> {
    const told = deps.links.takeTold(batchSize);
    const more = told.length === batchSize;
    if (told.length > 0 && !mustLook && performance.now() < lookAt) {
      const jobs = await settleTold(deps, told);
      if (jobs !== undefined) return { results: told.length, jobs, more };
    }
    mustLook = false;
    const report = await tick(deps, told);
    const pollMs = settings.pollSeconds * 1000;
    lookAt = performance.now() + Math.min(pollMs, report.next_due_ms ?? pollMs);
    return { ...report, more: report.more || more };
  }

  const services = [
    ticking,
    createService({
      name: "heartbeat",
      log,
      intervalMs: settings.heartbeatSeconds * 1000,
      runOnce: () => beat(deps.db, identity),
    }),
    createService({
      name: "recover",
      log,
      intervalMs: settings.recoverSeconds * 1000,
      async runOnce() {
        const { deadLettered, overdue, lost } = await recover(deps, settings);
        const found = deadLettered + overdue + lost;
        counters.recovered += found;
        if (found === 0) return;
        log.warn({ deadLettered, overdue, lost }, "failed tasks that their worker did not report");
        look();
      },
    }),
    createService({
      name: "maintain",
      log,
      intervalMs: 60_000,
      runOnce: settings.maintain,
    }),
  ];
  const scanning = createService({
    name: "take over",
    log,
    intervalMs: settings.orphanScanSeconds * 1000,
    async runOnce() {
      const claimed = await takeOver(deps, { thresholdSeconds: settings.orphanThresholdSeconds });
      if (claimed === 0) return;
      counters.jobsClaimed += claimed;
      log.info({ claimed }, "took over jobs whose owner is gone");
      look();
    },
  });
  services.push(scanning);
  const listener = hear(["dag_wake", "dag_orphans"], (wake) => {
    if (wake.kind === "missed" || wake.channel === "dag_orphans") scanning.wake();
    look();
  });
  for (const service of services) service.start();
  if (link !== undefined) await tellLinks(deps.db);
  const jobs: Subscription = await consumeJobs(deps, settings.jobQueue);

  return {
    counters,
    status: () => ({ ticks: counters.ticks, last_tick_at: lastTickAt, last_error: lastError }),
    wake: look,
    hearTold: () => {
      ticking.wake();
    },
    async stop() {
      await jobs.close({ graceMs: 5000 });
      await listener.close();
      for (const service of services) await service.stop();
      reach("sign_off.before");
      // Handed back at once: nobody has to wait for a heartbeat to grow old.
      const left = await deps.db.transaction((tx) => signOff(tx, deps.ownerId));
      reach("sign_off.after");
      if (left > 0) log.info({ jobs: left }, "handed back jobs to whoever takes them");
    },
  };
}
