import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { OutMessage } from "../../src/adapters/broker/broker.ts";
import type { TaskMessage } from "../../src/core/messages.ts";

const program = path.resolve(import.meta.dirname, "../../dist/programs/worker.js");

export interface WorkerProcess {
  readonly pid: number;
  /** Everything it logged so far. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Ends it and removes its folder. */
  dispose(): Promise<void>;
}

/** The real program as a process of its own. */
export async function startWorkerProcess(env: Record<string, string>): Promise<WorkerProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-worker-"));
  const child = spawn(process.execPath, ["--enable-source-maps", program], {
    env: { PATH: process.env["PATH"], RMHDAG_DATA_DIR: folder, LOG_LEVEL: "info", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const ended = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  return {
    pid: child.pid!,
    output: () => output,
    signal: (name) => child.kill(name),
    ended,
    dispose: async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A task message as the engine publishes it. */
export function taskOut(
  task: Partial<TaskMessage> & Pick<TaskMessage, "task_id" | "handler">,
): OutMessage {
  const message: TaskMessage = {
    job_id: "job-1",
    node_id: "node-1",
    params: {},
    queue: "dag-worker-tasks",
    timeout_seconds: 60,
    attempt: 0,
    retry_count: 0,
    ...task,
  };
  return {
    id: message.task_id,
    group: message.job_id,
    body: JSON.stringify(message),
    headers: { timeout_seconds: message.timeout_seconds },
  };
}
