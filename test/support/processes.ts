/**
 * The product as users have it: real processes, started through bin/rmhdag.js. Whatever a test file
 * starts is gone when `endProcesses` has run, also if the test failed.
 */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { waitFor } from "./wait.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const program = path.join(root, "bin/rmhdag.js");

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
}

export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  stdout(): string;
  signal(name: NodeJS.Signals): void;
  /** Waits until its output matches, and fails at once with all of it if it ends before that. */
  shows(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
}

const started = new Set<ChildProcess>();
const folders: string[] = [];
const sites: Site[] = [];

/** The tests' own environment must not reach the product. */
function environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, TMPDIR } = process.env;
  return { PATH, HOME, LANG, TMPDIR, ...env };
}

export function start(args: readonly string[], options: RunOptions = {}): Running {
  return startCommand([process.execPath, program, ...args], options);
}

export function startCommand(command: readonly string[], options: RunOptions = {}): Running {
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    cwd: options.cwd ?? root,
    env: environment(options.env ?? {}),
    // A group of its own, as a shell gives to what it runs.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  started.add(child);
  let stdout = "";
  let stderr = "";
  let isOver = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined).end(options.input ?? "");
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status, signal) => {
      isOver = true;
      started.delete(child);
      resolve({ status, signal, stdout, stderr });
    });
  });
  return {
    pid: child.pid!,
    ended,
    stdout: () => stdout,
    signal: (name) => {
      sendSignal(child, name);
    },
    async shows(pattern, timeoutMs = 60_000) {
      const what = `${String(pattern)} from ${args.slice(1).join(" ")}`;
      const found = await waitFor(() => pattern.exec(stdout + stderr) ?? (isOver ? "over" : null), {
        what,
        timeoutMs,
      }).catch((cause: unknown) => {
        throw new Error(`${what} was not shown. It showed:\n${stdout}${stderr}`, { cause });
      });
      if (found !== "over") return found;
      throw new Error(`It ended without showing ${what}:\n${stdout}${stderr}`);
    },
  };
}

/** Signals the whole process group, as a terminal does. */
function sendSignal({ pid, exitCode, signalCode }: ChildProcess, name: NodeJS.Signals): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, name);
}

export function run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return start(args, options).ended;
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-system-"));
  folders.push(folder);
  return folder;
}

/** A running `rmhdag up` and how it is used. */
export interface Site {
  readonly up: Running;
  readonly url: string;
  readonly dataFolder: string;
  cli(...args: string[]): Promise<Ended>;
  startCli(...args: string[]): Running;
  json<T>(...args: string[]): Promise<T>;
  /** Every process of the site but `up` itself, as its log names them, and its own database. */
  pids(): Promise<number[]>;
}

export interface SiteOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly dataFolder?: string;
  readonly args?: readonly string[];
}

export async function startSite(options: SiteOptions = {}): Promise<Site> {
  const dataFolder = options.dataFolder ?? (await temporaryFolder());
  const args = ["up", "--port", "0", "--data-dir", dataFolder, ...(options.args ?? [])];
  return siteOf(start(args, { env: options.env ?? {} }), dataFolder);
}

export async function siteOf(up: Running, dataFolder: string): Promise<Site> {
  const [, url = ""] = await up.shows(/is running at (http:\S+)/);
  const startCli = (...args: string[]) => start([...args, "--data-dir", dataFolder]);
  const cli = (...args: string[]) => startCli(...args).ended;
  async function json<T>(...args: string[]): Promise<T> {
    const { status, stdout, stderr } = await cli(...args, "--json");
    if (status !== 0) throw new Error(`rmhdag ${args.join(" ")} ended with ${status}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }
  const site: Site = {
    up,
    url,
    dataFolder,
    cli,
    startCli,
    json,
    pids: () =>
      waitFor(
        () => {
          const named = up.stdout().matchAll(/ (?:gateway|orchestrator|worker)\[(\d+)\] /g);
          const all = new Set([...named].map(([, pid]) => Number(pid)).filter(isRunning));
          return all.size >= 4 && [...all, ...databasePids(dataFolder)];
        },
        { what: "an orchestrator, two workers and a gateway", timeoutMs: 30_000 },
      ),
  };
  sites.push(site);
  return site;
}

/** Of the embedded server; none when the site uses another one. */
function databasePids(dataFolder: string): number[] {
  try {
    const file = path.join(dataFolder, "postgres/cluster/data/postmaster.pid");
    return [Number(readFileSync(file, "utf8").split("\n")[0])];
  } catch {
    return [];
  }
}

/** A zombie does not run. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

export async function areGone(pids: readonly number[], timeoutMs: number): Promise<void> {
  await waitFor(() => !pids.some(isRunning), {
    what: `the end of the processes ${pids.filter(isRunning).join(", ")}`,
    timeoutMs,
  });
}

/** For afterAll: stops every process that still runs, and kills those that do not stop. */
export async function endProcesses(): Promise<void> {
  for (const child of started) sendSignal(child, "SIGTERM");
  try {
    await waitFor(() => started.size === 0, { what: "all to stop", timeoutMs: 45_000 });
  } catch {
    for (const child of started) sendSignal(child, "SIGKILL");
  }
  const servers = sites.splice(0).flatMap(({ dataFolder }) => databasePids(dataFolder));
  await areGone(servers, 20_000);
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
}
