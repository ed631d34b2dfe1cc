import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Client } from "../../src/core/api/client.ts";
import { createClient } from "../../src/core/api/client.ts";
import { isFinished } from "../../src/core/model/job.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { ProgramRole } from "../../src/adapters/postgres/roles/rights.ts";
import { freePort } from "./free-port.ts";
import type { DatabaseUser } from "./database-user.ts";
import { makeProgramUser } from "./database-user.ts";
import { waitFor } from "./wait.ts";

const root = path.resolve(import.meta.dirname, "../..");

export interface Program {
  readonly name: string;
  readonly pid: number;
  /** Everything that it printed. */
  output(): string;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with its exit code once it is gone. */
  readonly gone: Promise<number | null>;
  /** Resident memory in MiB. */
  memory(): Promise<number>;
}

export interface Orchestrator extends Program {
  readonly url: string;
  readonly client: Client;
}

/**
 * Orchestrators and workers as the real programs on one database, with short intervals, each with the
 * database user of its program. Whatever a test started is killed with `stop`, however the test ended.
 */
export class Fleet {
  private readonly programs: Program[] = [];
  private readonly users = new Map<ProgramRole, Promise<DatabaseUser>>();
  private readonly databaseUrl: string;
  private readonly workflows: string;
  private folder: string | undefined;

  constructor(databaseUrl: string, workflows = path.join(root, "workflows")) {
    this.databaseUrl = databaseUrl;
    this.workflows = workflows;
  }

  /** What all of them share: storage, and room to work. */
  get dataDirectory(): string {
    if (this.folder === undefined) throw new Error("nothing has been started yet");
    return this.folder;
  }

  /** `under` is a command that runs the program, such as `unshare`. */
  async orchestrator(
    env: Record<string, string> = {},
    under: readonly string[] = [],
  ): Promise<Orchestrator> {
    const port = env["ORCHESTRATOR_PORT"] ?? String(await freePort());
    const settings = {
      DATABASE_URL: await this.urlFor("rmhdag_orchestrator"),
      ORCHESTRATOR_PORT: port,
      RMHDAG_OPEN_ON_LOOPBACK: "true",
      HEARTBEAT_INTERVAL_SEC: "0.5",
      ORPHAN_THRESHOLD_SEC: "2",
      ORPHAN_SCAN_INTERVAL_SEC: "0.5",
      RECOVER_INTERVAL_SEC: "0.5",
      LEASE_SEC: "2",
      ...env,
    };
    const program = await this.start("orchestrator", settings, under);
    const url = `http://127.0.0.1:${port}`;
    await started(program);
    return { ...program, url, client: createClient({ baseUrl: url, token: undefined, fetch }) };
  }

  async worker(env: Record<string, string> = {}): Promise<Program> {
    const program = await this.start("worker", {
      DATABASE_URL: await this.urlFor("rmhdag_worker"),
      WORKER_QUEUE: "functionapp-tasks,dag-worker-tasks,container-tasks",
      WORKER_CONCURRENCY: "8",
      WORKER_HEARTBEAT_SECONDS: "1",
      ...env,
    });
    await started(program);
    return program;
  }

  /** A worker without a database, which works over HTTP. */
  async httpWorker(url: string, env: Record<string, string> = {}): Promise<Program> {
    return this.worker({ ...env, DATABASE_URL: "", DAG_CALLBACK_URL: url });
  }

  /** A worker in Python; `file` calls `run`. */
  async pythonWorker(
    url: string,
    file: string,
    env: Record<string, string> = {},
  ): Promise<Program> {
    const program = await this.start(
      "python",
      {
        RMHDAG_URL: url,
        PYTHONPATH: path.join(root, "python/src"),
        PYTHONUNBUFFERED: "1",
        ...env,
      },
      [],
      ["python3", file],
    );
    await started(program, " offers ");
    return program;
  }

  /** Before an orchestrator, on a user of the database of its own. */
  async gateway(
    { url }: Pick<Orchestrator, "url">,
    env: Record<string, string> = {},
  ): Promise<Program & { readonly url: string }> {
    const port = await freePort();
    const program = await this.start("gateway", {
      GATEWAY_DATABASE_URL: await this.urlFor("rmhdag_gateway"),
      GATEWAY_PORT: String(port),
      ORCHESTRATOR_URL: url,
      ...env,
    });
    await started(program);
    return { ...program, url: `http://127.0.0.1:${port}` };
  }

  async stop(): Promise<void> {
    await this.stopPrograms();
    for (const user of this.users.values()) await (await user).remove();
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true });
  }

  /** For a test after which the next one starts programs of its own. */
  async stopPrograms(): Promise<void> {
    const stopped = this.programs.splice(0);
    for (const program of stopped) program.signal("SIGKILL");
    await Promise.all(stopped.map((program) => program.gone));
  }

  private async urlFor(role: ProgramRole): Promise<string> {
    const user = this.users.get(role) ?? makeProgramUser(this.databaseUrl, role);
    this.users.set(role, user);
    return (await user).url;
  }

  private async start(
    name: string,
    env: Record<string, string>,
    under: readonly string[] = [],
    program = [process.execPath, path.join(root, `dist/programs/${name}.js`)],
  ): Promise<Program> {
    this.folder ??= await mkdtemp(path.join(tmpdir(), "rmhdag-fleet-"));
    const [command = "", ...args] = [...under, ...program];
    const child = spawn(command, args, {
      env: {
        PATH: process.env["PATH"],
        RMHDAG_WORKFLOWS: this.workflows,
        RMHDAG_DATA_DIR: this.folder,
        LOG_FORMAT: "text",
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const watched = watch(name, child);
    this.programs.push(watched);
    return watched;
  }
}

/**
 * A busy machine takes its time, and a worker over HTTP starts when an orchestrator answers, which may be
 * frozen or gone. A program that does not start says why.
 */
async function started(program: Program, line = `${program.name} started`): Promise<void> {
  await waitFor(() => program.output().includes(line), { timeoutMs: 120_000, what: line }).catch(
    (cause: unknown) => {
      throw new Error(`${program.name} did not start:\n${program.output()}`, { cause });
    },
  );
}

function watch(name: string, child: ChildProcess): Program {
  let text = "";
  const collect = (chunk: Buffer): void => {
    text += chunk.toString();
  };
  child.stdout?.on("data", collect);
  child.stderr?.on("data", collect);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} could not be started`);
  const gone = new Promise<number | null>((resolve) => {
    child.once("exit", resolve);
  });
  return {
    name,
    pid,
    gone,
    output: () => text,
    signal: (signal) => {
      child.kill(signal);
    },
    memory: async () => {
      const status = await readFile(`/proc/${pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    },
  };
}

/** Submits over HTTP and answers the job's id. */
export async function submit(
  { client }: Orchestrator,
  workflow_id: string,
  inputs: JsonObject = {},
): Promise<string> {
  return (await client.submitJob({ body: { workflow_id, inputs } })).job_id;
}

/** Follows a job to its end over HTTP. */
export async function finished({ client }: Orchestrator, jobId: string, timeoutMs = 60_000) {
  return waitFor(
    async () => {
      const job = await client.getJob({ params: { job_id: jobId } });
      return isFinished(job.status) ? job : undefined;
    },
    { timeoutMs, what: `the end of job ${jobId}`, isFinal: true },
  );
}
