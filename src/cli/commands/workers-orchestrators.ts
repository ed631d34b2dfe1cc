import type { Command } from "commander";
import type { CliConfig } from "../common/config.ts";
import { ago } from "../common/format.ts";
import { listCommand } from "./define-command.ts";

export function addWorkers(program: Command, config: CliConfig): void {
  const command = program
    .command("workers")
    .description("list the worker processes, with their queues and slots")
    .addHelpText("after", "\nExamples:\n  rmhdag workers\n  rmhdag workers --json\n");
  listCommand(command, config, {
    read: async (client) => (await client.listWorkers()).items,
    none: "No worker is registered. `rmhdag up` starts two, `rmhdag worker` one.",
    columns: {
      WORKER: (worker) => worker.worker_id,
      STATE: (worker) => (worker.alive ? "alive" : "lost"),
      BUSY: (worker) => `${worker.busy}/${worker.slots}`,
      QUEUES: (worker) => worker.queues.join(","),
      SANDBOX: (worker) => worker.gdal?.sandbox ?? "-",
      HOST: (worker) => worker.host,
      PID: (worker) => worker.pid,
      VERSION: (worker) => worker.version,
      HEARTBEAT: (worker) => ago(worker.heartbeat_at),
    },
  });
}

export function addOrchestrators(program: Command, config: CliConfig): void {
  const command = program
    .command("orchestrators")
    .description("list the orchestrator processes and how many jobs each owns")
    .addHelpText("after", "\nExamples:\n  rmhdag orchestrators\n  rmhdag orchestrators --json\n");
  listCommand(command, config, {
    read: async (client) => (await client.listOrchestrators()).items,
    none: "No orchestrator is registered.",
    columns: {
      ORCHESTRATOR: (each) => each.owner_id,
      STATE: (each) => (each.alive ? "alive" : "lost"),
      JOBS: (each) => each.jobs,
      HOST: (each) => each.host,
      PID: (each) => each.pid,
      VERSION: (each) => each.version,
      HEARTBEAT: (each) => ago(each.heartbeat_at),
    },
  });
}
