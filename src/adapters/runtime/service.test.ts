import { expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait.ts";
import { createLogger } from "./logger.ts";
import { createService } from "./service.ts";

const log = createLogger({ level: "silent", format: "json" });
const hour = 3_600_000;

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

it("runs at its start, and again when woken, without waiting for its interval", async () => {
  let runs = 0;
  const service = createService({
    name: "s",
    intervalMs: hour,
    log,
    runOnce: async () => {
      runs++;
    },
  });
  service.start();
  await waitFor(() => runs === 1, { what: "the first run" });
  service.wake();
  await waitFor(() => runs === 2, { what: "the second run" });
  await service.stop();
  service.wake();
  expect(runs).toBe(2);
});

it("makes one run of many wakes that come while it runs", async () => {
  let runs = 0;
  const first = gate();
  const service = createService({
    name: "s",
    intervalMs: hour,
    log,
    runOnce: async () => {
      if (++runs === 1) await first.opened;
    },
  });
  service.start();
  for (let wakes = 0; wakes < 10; wakes++) service.wake();
  first.open();
  await waitFor(() => runs === 2, { what: "the second run" });
  await service.stop();
  expect(runs).toBe(2);
});

it("runs as early as its last run asked for", async () => {
  let runs = 0;
  const service = createService({
    name: "s",
    intervalMs: hour,
    log,
    runOnce: async () => (++runs < 3 ? 1 : undefined),
  });
  service.start();
  await waitFor(() => runs === 3, { what: "three runs" });
  await service.stop();
});

it("goes on after a failure, with a pause that grows", async () => {
  const times: number[] = [];
  const service = createService({
    name: "s",
    intervalMs: hour,
    log,
    firstPauseMs: 20,
    runOnce: async () => {
      times.push(performance.now());
      throw new Error("broken");
    },
  });
  service.start();
  await waitFor(() => times.length === 4, { what: "four runs" });
  await service.stop();
  const pauses = times.slice(1).map((time, index) => time - times[index]!);
  expect(pauses[0]).toBeGreaterThanOrEqual(19);
  expect(pauses[2]).toBeGreaterThanOrEqual(79);
});

it("waits at its stop for the run that is under way", async () => {
  const running = gate();
  let isDone = false;
  const service = createService({
    name: "s",
    intervalMs: hour,
    log,
    runOnce: async () => {
      await running.opened;
      isDone = true;
    },
  });
  service.start();
  const stopped = service.stop();
  running.open();
  await stopped;
  expect(isDone).toBe(true);
});

it("pauses no longer than told, however often it has failed", async () => {
  let runs = 0;
  const service = createService({
    name: "s",
    intervalMs: hour,
    firstPauseMs: 1,
    longestPauseMs: 2,
    log,
    runOnce: async () => {
      // The pauses of twenty failures would double to nine minutes.
      if (++runs <= 20) throw new Error("the database is away");
    },
  });
  service.start();
  await waitFor(() => runs === 21, { what: "a run after twenty failures" });
  await service.stop();
});
