import { Option } from "commander";
import type { Command } from "commander";
import { attemptsOf } from "../../core/model/attempts.ts";
import { nodeStatus } from "../../core/model/node.ts";
import type { NodeStatus } from "../../core/model/node.ts";
import type { CliConfig } from "../common/config.ts";
import { ago, between, duration } from "../common/format.ts";
import { glyph } from "../common/output.ts";
import { jobIdOf } from "./find-job.ts";
import { collectPages, limitOption, listCommand } from "./define-command.ts";

interface NodeOptions {
  readonly limit: number;
  readonly status?: NodeStatus;
  readonly handler?: string;
  readonly queue?: string;
  readonly workflow?: string;
  readonly job?: string;
  readonly worker?: string;
  readonly error?: string;
}

const nodeExamples = `
Examples:
  rmhdag nodes --status failed                the latest failures, in any job
  rmhdag nodes --handler raster.validate --error NO_CRS
  rmhdag nodes --job JOB                      the nodes of one job
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
    .option("--job <id>", "only nodes of this job, children of fan-outs included")
    .option("--worker <worker>", "only nodes that this worker runs or ran last")
    .option("--error <text>", "only nodes whose error has this text or code")
    .addOption(limitOption())
    .addHelpText("after", nodeExamples);
  listCommand(command, config, {
    read: async (client, { limit, workflow, job, worker, ...given }: NodeOptions) => {
      const job_id = job === undefined ? undefined : await jobIdOf(client, job);
      const { status, handler, queue, error } = given;
      const ofJob = { workflow_id: workflow, job_id, worker_id: worker };
      const filter = { status, handler, queue, error, ...ofJob };
      return collectPages(limit, (paging) => client.listNodes({ query: { ...paging, ...filter } }));
    },
    none: "No such nodes.",
    columns: {
      JOB: (node) => node.job_id,
      NODE: (node) => node.node_id,
      STATE: (node) => `${glyph(node.status)} ${node.status}`,
      HANDLER: (node) => node.handler,
      QUEUE: (node) => node.queue,
      ATTEMPTS: attemptsOf,
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
    read: async (client, { limit, job, node, status, worker }: TaskOptions) => {
      const job_id = job === undefined ? undefined : await jobIdOf(client, job);
      const filter = { job_id, node_id: node, status, worker_id: worker };
      return collectPages(limit, (paging) => client.listTasks({ query: { ...paging, ...filter } }));
    },
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
