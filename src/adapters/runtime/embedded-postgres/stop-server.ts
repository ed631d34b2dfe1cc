import { setTimeout as pause } from "node:timers/promises";
import { hasErrorCode } from "../error-code.ts";
import { EmbeddedPostgresError } from "./error.ts";
import type { Layout } from "./layout.ts";
import { findRunningServer } from "./running-server.ts";

const patienceMs = 60_000;
const roundMs = 10;

/** A fast shutdown: sessions are ended, and everything is written, so the next start recovers nothing. */
export async function stopServer(layout: Layout, pid: number): Promise<void> {
  try {
    process.kill(pid, "SIGINT");
  } catch (error) {
    if (!hasErrorCode(error, "ESRCH")) throw error;
  }
  const deadline = performance.now() + patienceMs;
  while ((await findRunningServer(layout))?.pid === pid) {
    if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        "STOP_FAILED",
        `PostgreSQL (process ${pid}) has not stopped in ${patienceMs / 1000} s: see ${layout.log}.`,
      );
    }
    await pause(roundMs);
  }
}
