/**
 * Keeps one program running: whenever it ends by itself it is started again, after a pause that
 * doubles while it keeps ending soon. Exit status 2 means that its settings are wrong, which a
 * restart does not cure.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { backoffDelay } from "../../core/backoff.ts";
import { plural } from "../output.ts";
import { duration } from "../time.ts";
import { splitLines } from "./split-lines.ts";

export interface Supervised {
  readonly name: string;
  pid(): number | undefined;
  /** Asks it to stop, and kills it when it has not in time; there is no restart after this. */
  stop(): Promise<void>;
  kill(): void;
}

export interface SuperviseOptions {
  readonly name: string;
  readonly spawn: () => ChildProcess;
  readonly onLine: (line: string) => void;
  /** News of the program itself: that it died, that it is started again. */
  readonly onNews: (text: string) => void;
  readonly onHopeless: (reason: string) => void;
  readonly patienceMs?: number;
  readonly firstPauseMs?: number;
}

const badSettings = 2;
const longestPauseMs = 15_000;
/** Who ran this long was healthy: its next death starts the pauses anew. */
const healthyMs = 30_000;
const keptLines = 8;
/** A worker may take 30 seconds to hand back what it does. */
const defaultPatienceMs = 40_000;

export function supervise(options: SuperviseOptions): Supervised {
  const { name, onLine, onNews, onHopeless, firstPauseMs = 250 } = options;
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
    // `close` and not `exit`: by then its last lines have been read.
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
      onHopeless(`${name} ${how}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
      return;
    }
    const pauseMs = backoffDelay(deaths++, firstPauseMs, longestPauseMs);
    onNews(`${name} ${how}; starting it again in ${duration(pauseMs)}`);
    if (lines.length > 0) onNews(`its last ${plural(lines.length, "line")}:`);
    for (const line of lines) onNews(`  ${line}`);
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
      const patience = setTimeout(() => {
        onNews(`${name} has not stopped: killing it`);
        child?.kill("SIGKILL");
      }, options.patienceMs ?? defaultPatienceMs);
      await closed;
      clearTimeout(patience);
    },
    kill() {
      isStopping = true;
      clearTimeout(timer);
      child?.kill("SIGKILL");
    },
  };
}
