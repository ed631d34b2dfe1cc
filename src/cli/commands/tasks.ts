import type { Command } from "commander";
import { Option } from "commander";
import type { CliConfig } from "../config.ts";
import { glyph } from "../style.ts";
import { ago, duration } from "../time.ts";
import { limitOption } from "./arguments.ts";
import { listCommand } from "./list-command.ts";
import { collectPages } from "./pages.ts";

interface Options {
  readonly limit: number;
  readonly job?: string;
  readonly node?: string;
  readonly status?: "completed" | "failed";
  readonly worker?: string;
}

const examples = `
Examples:
  rmhdag tasks --job JOB              every attempt of a job's nodes
  rmhdag tasks --status failed
`;

export function addTasks(program: Command, config: CliConfig): void {
  const command = program
    .command("tasks")
    .description("list results as workers reported them, the newest first")
    .option("--job <job>", "only those of a job")
    .option("--node <node>", "only those of a node")
    .addOption(new Option("--status <status>", "only these").choices(["completed", "failed"]))
    .option("--worker <worker>", "only those of a worker")
    .addOption(limitOption())
    .addHelpText("after", examples);
  listCommand(command, config, {
    read: (client, { limit, job, node, status, worker }: Options) =>
      collectPages(limit, (paging) =>
        client.listTasks({
          query: { ...paging, job_id: job, node_id: node, status, worker_id: worker },
        }),
      ),
    none: "No such results.",
    columns: {
      TASK: (task) => task.task_id,
      STATE: (task) => `${glyph(task.status)} ${task.status}`,
      WORKER: (task) => task.worker_id,
      TOOK: (task) => (task.seconds === null ? null : duration(task.seconds * 1000)),
      REPORTED: (task) => ago(task.reported_at),
      ERROR: (task) => task.error?.message.slice(0, 60),
    },
  });
}
