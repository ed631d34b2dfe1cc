import type { Command } from "commander";
import { Option } from "commander";
import type { NodeStatus } from "../../core/model/node.ts";
import { nodeStatus } from "../../core/model/node.ts";
import type { CliConfig } from "../config.ts";
import { glyph } from "../style.ts";
import { between } from "../time.ts";
import { limitOption } from "./arguments.ts";
import { listCommand } from "./list-command.ts";
import { collectPages } from "./pages.ts";

interface Options {
  readonly limit: number;
  readonly status?: NodeStatus;
  readonly handler?: string;
  readonly queue?: string;
  readonly workflow?: string;
}

const examples = `
Examples:
  rmhdag nodes --status failed                what failed lately, in any job
  rmhdag nodes --handler raster.validate
`;

export function addNodes(program: Command, config: CliConfig): void {
  const command = program
    .command("nodes")
    .description("list nodes of all jobs, those of the newest job first")
    .addOption(new Option("--status <status>", "only these").choices(nodeStatus.options))
    .option("--handler <name>", "only those of a handler")
    .option("--queue <name>", "only those of a queue")
    .option("--workflow <id>", "only those of a workflow")
    .addOption(limitOption())
    .addHelpText("after", examples);
  listCommand(command, config, {
    read: (client, { limit, status, handler, queue, workflow }: Options) =>
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
