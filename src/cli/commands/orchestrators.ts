import type { Command } from "commander";
import type { CliConfig } from "../config.ts";
import { ago } from "../time.ts";
import { listCommand } from "./list-command.ts";

export function addOrchestrators(program: Command, config: CliConfig): void {
  const command = program
    .command("orchestrators")
    .description("list the orchestrator processes, with the jobs that they own")
    .addHelpText("after", "\nExamples:\n  rmhdag orchestrators\n  rmhdag orchestrators --json\n");
  listCommand(command, config, {
    read: async (client) => (await client.listOrchestrators()).items,
    none: "No orchestrator has registered.",
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
