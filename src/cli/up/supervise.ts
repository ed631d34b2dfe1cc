import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { backoffDelay } from "../../core/backoff.ts";
import { duration, plural } from "../common/format.ts";

export interface Supervised {
  readonly name: string;
  pid(): number | undefined;
  /** Sends SIGTERM, and SIGKILL if the program has not ended in time; it is not restarted. */
  stop(): Promise<void>;
  kill(): void;
}

export interface SuperviseOptions {
  readonly name: string;
  readonly spawn: () => ChildProcess;
  readonly onLine: (line: string) => void;
  /** Called when the program died, is restarted, or is killed. */
  readonly onEvent: (text: string) => void;
  readonly onFatal: (reason: string) => void;
  readonly stopTimeoutMs?: number;
  readonly firstPauseMs?: number;
}

const badSettings = 2;
const longestPauseMs = 15_000;
/** After a run of this length the pauses start again with the first. */
const healthyMs = 30_000;
const keptLines = 8;
/** Longer than a worker's WORKER_SHUTDOWN_SECONDS, in which running tasks may finish. */
const defaultStopTimeoutMs = 40_000;

/**
 * Keeps one program running. A program that ends by itself is started again, after a pause that
 * doubles while it keeps ending soon. Exit status 2 means that its settings are wrong, which a
 * restart does not cure.
 */
export function supervise(options: SuperviseOptions): Supervised {
  const { name, onLine, onEvent, onFatal, firstPauseMs = 250 } = options;
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;
  let deaths = 0;

  function start(): void {
    const startedAt = performance.now();
    const lines: string[] = [];
    const keep = (line: string): void => {
      lines.push(line);
      if (lines.length > keptLines) lines.shift();
      onLine(line);
    };
    const started = options.spawn();
    child = started;
    if (started.stdout !== null) splitLines(started.stdout, keep);
    if (started.stderr !== null) splitLines(started.stderr, keep);
    started.once("error", (error) => {
      keep(error.message);
      if (started.pid === undefined) started.emit("close", 1, null);
    });
    // `close` and not `exit`: it comes after the program's last lines.
    started.once("close", (code: number | null, signal: NodeJS.Signals | null) => {
      child = undefined;
      if (isStopping) return;
      if (performance.now() - startedAt > healthyMs) deaths = 0;
      afterDeath(code, signal, lines);
    });
  }

  function afterDeath(code: number | null, signal: string | null, lines: readonly string[]): void {
    const how =
      signal === null ? `ended with exit status ${code ?? "unknown"}` : `died of ${signal}`;
    if (code === badSettings) {
      onFatal(`${name} ${how}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
      return;
    }
    const pauseMs = backoffDelay(deaths++, firstPauseMs, longestPauseMs);
    onEvent(`${name} ${how}; starting it again in ${duration(pauseMs)}`);
    if (lines.length > 0) onEvent(`its last ${plural(lines.length, "line")}:`);
    for (const line of lines) onEvent(`  ${line}`);
    timer = setTimeout(start, pauseMs);
  }

  start();
  return {
    name,
    pid: () => child?.pid,
    async stop() {
      isStopping = true;
      clearTimeout(timer);
      if (child === undefined) return;
      const closed = once(child, "close");
      child.kill("SIGTERM");
      const killTimer = setTimeout(() => {
        onEvent(`${name} has not stopped: killing it`);
        child?.kill("SIGKILL");
      }, options.stopTimeoutMs ?? defaultStopTimeoutMs);
      await closed;
      clearTimeout(killTimer);
    },
    kill() {
      isStopping = true;
      clearTimeout(timer);
      child?.kill("SIGKILL");
    },
  };
}

/** Calls `onLine` for each line, also for a last one without a line end. */
function splitLines(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Infinity }).on("line", onLine);
}
