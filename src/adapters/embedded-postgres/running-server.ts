import { readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { EmbeddedPostgresError } from "./errors.ts";
import type { Layout } from "./layout.ts";
import { isAlive } from "./prepare-data-directory.ts";
import { hasErrorCode } from "../runtime/error-code.ts";

export interface RunningServer {
  readonly pid: number;
  /** Undefined until the starting server has written its port to postmaster.pid. */
  readonly port: number | undefined;
}

/**
 * The running server according to postmaster.pid; undefined if the server that wrote it is gone.
 */
export async function findRunningServer(layout: Layout): Promise<RunningServer | undefined> {
  const text = await readFile(pidFile(layout), "utf8").catch((error: unknown) => {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  });
  const lines = text?.split("\n") ?? [];
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!Number.isInteger(pid) || pid <= 1 || !(await isServerOf(layout, pid))) return undefined;
  return { pid, port: port > 0 ? port : undefined };
}

/**
 * Removes the pid file of a dead server. PostgreSQL does so itself, unless the pid now belongs to
 * another process, and then refuses to start for ever: the usual case in a container, where pids
 * are few and start from 1 again. `findRunningServer` has checked that it is another process. If
 * that check were wrong, the server would still refuse to start while the old one uses its shared
 * memory.
 */
export async function removeStalePidFile(layout: Layout): Promise<void> {
  if ((await findRunningServer(layout)) === undefined) await rm(pidFile(layout), { force: true });
}

/** The server's working directory is its data folder: a process elsewhere only has the same pid. */
async function isServerOf(layout: Layout, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  // Without /proc (macOS) a living pid must be enough.
  if (process.platform !== "linux") return true;
  try {
    const [cwd, data] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(layout.data)]);
    return cwd.ino === data.ino && cwd.dev === data.dev;
  } catch (error) {
    // Root in a container usually cannot read the cwd of other users' processes (no
    // CAP_SYS_PTRACE), but can read their command line. Any other error means that the process has
    // ended.
    return hasErrorCode(error, "EACCES") && (await isPostgres(pid));
  }
}

async function isPostgres(pid: number): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return path.basename(commandLine.split("\0")[0] ?? "") === "postgres";
}

function pidFile(layout: Layout): string {
  return path.join(layout.data, "postmaster.pid");
}

const stopTimeoutMs = 60_000;
const roundMs = 10;

/**
 * Stops the server with a fast shutdown: it ends sessions and writes everything to disk. The end of
 * the process is awaited, because the server removes postmaster.pid a little before it.
 */
export async function stopServer(layout: Layout, pid: number): Promise<void> {
  if (await isServerOf(layout, pid)) interrupt(pid);
  const deadline = performance.now() + stopTimeoutMs;
  while (await isServerOf(layout, pid)) {
    if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        "STOP_FAILED",
        `PostgreSQL (process ${pid}) has not stopped in ${stopTimeoutMs / 1000} s: see ${layout.log}.`,
      );
    }
    await pause(roundMs);
  }
}

function interrupt(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch (error) {
    if (!hasErrorCode(error, "ESRCH")) throw error;
  }
}
