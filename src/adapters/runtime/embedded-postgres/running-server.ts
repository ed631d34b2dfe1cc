import { readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { hasErrorCode } from "../error-code.ts";
import type { Layout } from "./layout.ts";
import { isAlive } from "./prepare-data-directory.ts";

export interface RunningServer {
  readonly pid: number;
  /** Undefined in the first moments of a server, before it has written the line. */
  readonly port: number | undefined;
}

/** What postmaster.pid says, when the server that wrote it is still alive. */
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
 * PostgreSQL itself replaces the file of a dead server, unless its pid now belongs to another
 * process: the rule in a container, where pids are few and start anew, and then it never starts
 * again. We have made sure that it is another process, so the file can go. Should we be wrong,
 * the server still refuses to start while the shared memory of the old one is in use.
 */
export async function removeStalePidFile(layout: Layout): Promise<void> {
  if ((await findRunningServer(layout)) === undefined) await rm(pidFile(layout), { force: true });
}

/** A server lives in its data folder, so a process that is elsewhere has only inherited the pid. */
async function isServerOf(layout: Layout, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  // Without /proc (macOS) the pid has to do.
  if (process.platform !== "linux") return true;
  try {
    const [lives, data] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(layout.data)]);
    return lives.ino === data.ino && lives.dev === data.dev;
  } catch (error) {
    // Root in a container usually may not look into the processes of others (no CAP_SYS_PTRACE),
    // but sees what they were started as. Anything else means that it is gone meanwhile.
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
