import type { Command } from "commander";
import type { CliConfig } from "../config.ts";
import { ago } from "../time.ts";
import { listCommand } from "./list-command.ts";

export function addWorkers(program: Command, config: CliConfig): void {
  const command = program
    .command("workers")
    .description("list the worker processes, with their queues and slots")
    .addHelpText("after", "\nExamples:\n  rmhdag workers\n  rmhdag workers --json\n");
  listCommand(command, config, {
    read: async (client) => (await client.listWorkers()).items,
    none: "No worker has registered. `rmhdag up` starts two, `rmhdag worker` one.",
    columns: {
      WORKER: (worker) => worker.worker_id,
      STATE: (worker) => (worker.alive ? "alive" : "lost"),
      BUSY: (worker) => `${worker.busy}/${worker.slots}`,
      QUEUES: (worker) => worker.queues.join(","),
      HOST: (worker) => worker.host,
      PID: (worker) => worker.pid,
      VERSION: (worker) => worker.version,
      HEARTBEAT: (worker) => ago(worker.heartbeat_at),
    },
  });
}
