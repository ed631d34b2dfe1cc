import { describe, expect, it } from "vitest";
import type { ChaosReport } from "../support/chaos-report.ts";
import type { WorkerKind } from "../support/chaos.ts";
import { runChaos } from "../support/chaos.ts";

/** `npm run chaos` sets these; without them the run is short and its seeds are these. */
const given = process.env["CHAOS_SEED"];
const seconds = Number(process.env["CHAOS_SECONDS"] ?? "10");
/** Seeds that once failed stay here. */
const known: readonly number[] = [];
const seeds = given === undefined ? [1, ...known] : given.split(",").map(Number);

const workers = (process.env["CHAOS_WORKERS"] ?? "").split(",").filter(Boolean) as WorkerKind[];

describe("chaos", () => {
  const reports: ChaosReport[] = [];

  it.each(seeds)(
    `with seed %i ends every job as the model says, after ${seconds} s of harm`,
    async (seed) => {
      const broker = process.env["CHAOS_BROKER"];
      const report = await runChaos({ seed, seconds, broker, workers });
      reports.push(report);
      if (given !== undefined) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    },
    (seconds + 900) * 1000,
  );

  it("has really met what is rare, or the agreement would mean little", () => {
    const total = (count: (report: ChaosReport) => number) =>
      reports.reduce((sum, report) => sum + count(report), 0);
    const seen = {
      takeOvers: total((report) => report.takeOvers),
      retries: total((report) => report.retries),
      redeliveries: total((report) => report.redeliveries),
      fenced: total((report) => report.fenced),
      serverCrashes: total((report) => report.serverCrashes),
      alone: total((report) => report.alone),
    };
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
  });
});
