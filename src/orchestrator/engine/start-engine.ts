import { hostname } from "node:os";
import { engineChannel, orphansChannel } from "../../adapters/postgres/channels.ts";
import type { Durations } from "../../adapters/http/metrics.ts";
import type { NodeKey } from "../../adapters/postgres/repositories/nodes.ts";
import { writeHeartbeat, signOff } from "../../adapters/postgres/repositories/ownership.ts";
import type { Listen } from "../../adapters/postgres/share-listener.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { Logger } from "../../adapters/runtime/logger.ts";
import { createService } from "../../adapters/runtime/service.ts";
import { version } from "../../adapters/runtime/version.ts";
import type { EngineDeps } from "./deps.ts";
import { recover } from "./recover.ts";
import { takeOver } from "./take-over.ts";
import type { TickReport } from "./tick.ts";
import { PushedTicks } from "./tick-pushed.ts";
import { tick } from "./tick.ts";

export interface EngineSettings {
  readonly pollSeconds: number;
  readonly heartbeatSeconds: number;
  readonly orphanThresholdSeconds: number;
  readonly orphanScanSeconds: number;
  readonly recoverSeconds: number;
  readonly messageLostSeconds: number;
}

/** Counters since the start of the process, for status and metrics. */
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
  readonly quarantined_jobs: number;
}

export interface Engine {
  status(): EngineStatus;
  readonly counters: Readonly<EngineCounters>;
  /** Ticks at once, because the database has work for this orchestrator. */
  wake(): void;
  stop(): Promise<void>;
}

/**
 * Starts the background services of an orchestrator: the tick, which every report and every change of
 * a job wakes, and the slow ones: heartbeat, take-over of orphans, recovery of lost tasks, maintenance.
 */
export async function startEngine(
  deps: EngineDeps,
  settings: EngineSettings,
  listen: Listen,
  log: Logger,
  durations?: { readonly ticks: Durations<"kind"> },
): Promise<Engine> {
  const counters = { ticks: 0, results: 0, jobsSettled: 0, jobsClaimed: 0, recovered: 0 };
  const identity = { owner_id: deps.ownerId, host: hostname(), pid: process.pid, version };
  // Must be first: a job whose owner has no heartbeat counts as an orphan.
  await writeHeartbeat(deps.db, identity);

  const ticking = createTicking(deps, settings.pollSeconds * 1000, counters, log, durations);
  const service = (name: string, seconds: number, runOnce: () => Promise<unknown>) =>
    createService({ name, log, intervalMs: seconds * 1000, runOnce });
  const scanning = service("take over", settings.orphanScanSeconds, async () => {
    const claimed = await takeOver(deps, { thresholdSeconds: settings.orphanThresholdSeconds });
    if (claimed === 0) return;
    counters.jobsClaimed += claimed;
    log.info({ claimed }, "took over jobs whose owner is gone");
    ticking.wake();
  });
  let searched: NodeKey | undefined;
  const services = [
    ticking.service,
    service("heartbeat", settings.heartbeatSeconds, async () => {
      const other = await writeHeartbeat(deps.db, identity);
      if (other === undefined) return;
      log.error(
        { owner_id: deps.ownerId, other },
        "another program runs with the same ORCHESTRATOR_ID: give each an id of its own",
      );
    }),
    service("recover", settings.recoverSeconds, async () => {
      const recovered = await recover(deps, { ...settings, after: searched });
      const { deadLettered, overdue, lost } = recovered;
      ({ searched } = recovered);
      const failed = deadLettered + overdue + lost;
      counters.recovered += failed;
      if (failed === 0) return;
      log.warn({ deadLettered, overdue, lost }, "failed tasks that their worker did not report");
      ticking.wake();
    }),
    service("maintain", 10, () => deps.broker.maintain()),
    scanning,
  ];
  const listener = listen([engineChannel, orphansChannel], (wake) => {
    if (wake.kind === "missed" || wake.channel === orphansChannel) scanning.wake();
    ticking.wake();
  });
  for (const each of services) each.start();

  return {
    counters,
    status: () => ({
      ticks: counters.ticks,
      quarantined_jobs: deps.quarantine.list(deps.clock.now().getTime()).length,
      ...ticking.status(),
    }),
    wake: ticking.wake,
    async stop() {
      await listener.close();
      for (const each of services) await each.stop();
      await ticking.idle();
      reach("sign_off.before");
      // The other orchestrators take over released jobs at once, without waiting for a stale heartbeat.
      const released = await deps.db.transaction((tx) => signOff(tx, deps.ownerId));
      reach("sign_off.after");
      if (released > 0) log.info({ jobs: released }, "released jobs for other orchestrators");
    },
  };
}

/**
 * Creates the service that ticks. Pushed reports are settled as they arrive. Work in the database is
 * read after a notification or a call of `wake`, when a retry falls due, and by the poll.
 */
function createTicking(
  deps: EngineDeps,
  pollMs: number,
  counters: EngineCounters,
  log: Logger,
  durations: { readonly ticks: Durations<"kind"> } | undefined,
) {
  let mustRead = true;
  let readAt = 0;
  let lastTickAt: string | null = null;
  let lastError: string | null = null;
  const pushed = new PushedTicks(deps, (ticked) => {
    void count("pushed", ticked).then(() => {
      if (pushed.hasMore()) service.wake();
    });
  });

  async function count(
    kind: "pushed" | "database",
    ticked: Promise<TickReport>,
  ): Promise<TickReport> {
    const since = performance.now();
    const report = await ticked.catch((error: unknown) => {
      lastError = error instanceof Error ? error.message : String(error);
      throw error;
    });
    durations?.ticks.observe({ kind }, (performance.now() - since) / 1000);
    if (report.committed) lastTickAt = deps.clock.now().toISOString();
    counters.ticks += 1;
    counters.results += report.results;
    counters.jobsSettled += report.jobs;
    return report;
  }

  /** Answers after how many milliseconds to run again at the latest. */
  async function runOnce(): Promise<number> {
    await pushed.advance();
    if (mustRead || performance.now() >= readAt) {
      await pushed.idle();
      mustRead = false;
      const { more, next_due_ms } = await count("database", tick(deps));
      readAt = performance.now() + (more ? 0 : Math.min(pollMs, next_due_ms ?? pollMs));
    }
    return Math.max(0, readAt - performance.now());
  }

  const service = createService({ name: "tick", log, intervalMs: pollMs, runOnce });
  deps.broker.pushedReports?.onArrival(() => {
    service.wake();
  });
  return {
    service,
    idle: () => pushed.idle(),
    wake: () => {
      mustRead = true;
      service.wake();
    },
    status: () => ({ last_tick_at: lastTickAt, last_error: lastError }),
  };
}
