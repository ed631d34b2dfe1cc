import { Option } from "commander";
import type { Command } from "commander";
import { nodeStatus } from "../../core/model/node.ts";
import type { NodeStatus } from "../../core/model/node.ts";
import type { CliConfig } from "../common/config.ts";
import { ago, between, duration } from "../common/format.ts";
import { glyph } from "../common/output.ts";
import { collectPages, limitOption, listCommand } from "./define-command.ts";

interface NodeOptions {
  readonly limit: number;
  readonly status?: NodeStatus;
  readonly handler?: string;
  readonly queue?: string;
  readonly workflow?: string;
}

const nodeExamples = `
Examples:
  rmhdag nodes --status failed                the latest failures, in any job
  rmhdag nodes --handler raster.validate
`;

export function addNodes(program: Command, config: CliConfig): void {
  const command = program
    .command("nodes")
    .description("list the nodes of all jobs, the newest job first")
    .addOption(
      new Option("--status <status>", "only nodes in this state").choices(nodeStatus.options),
    )
    .option("--handler <name>", "only nodes with this handler")
    .option("--queue <name>", "only nodes on this queue")
    .option("--workflow <id>", "only nodes of this workflow")
    .addOption(limitOption())
    .addHelpText("after", nodeExamples);
  listCommand(command, config, {
    read: (client, { limit, status, handler, queue, workflow }: NodeOptions) =>
      collectPages(limit, (paging) =>
        client.listNodes({ query: { ...paging, status, handler, queue, workflow_id: workflow } }),
      ),
    none: "No such nodes.",
    columns: {
      JOB: (node) => node.job_id,
      NODE: (node) => node.node_id,
      STATE: (node) => `${glyph(node.status)} ${node.status}`,
      HANDLER: (node) => node.handler,
      QUEUE: (node) => node.queue,
      ATTEMPT: (node) => node.attempt,
      TOOK: (node) => between(node.started_at ?? node.dispatched_at, node.completed_at),
      ERROR: (node) => node.error?.message.slice(0, 60),
    },
  });
}

interface TaskOptions {
  readonly limit: number;
  readonly job?: string;
  readonly node?: string;
  readonly status?: "completed" | "failed";
  readonly worker?: string;
}

const taskExamples = `
Examples:
  rmhdag tasks --job JOB              every attempt of a job's nodes
  rmhdag tasks --status failed
`;

export function addTasks(program: Command, config: CliConfig): void {
  const command = program
    .command("tasks")
    .description("list the task results that workers reported, the newest first")
    .option("--job <job>", "only results of this job")
    .option("--node <node>", "only results of this node")
    .addOption(
      new Option("--status <status>", "only results in this state").choices([
        "completed",
        "failed",
      ]),
    )
    .option("--worker <worker>", "only results of this worker")
    .addOption(limitOption())
    .addHelpText("after", taskExamples);
  listCommand(command, config, {
    read: (client, { limit, job, node, status, worker }: TaskOptions) =>
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
