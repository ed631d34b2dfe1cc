import type { Command } from "commander";
import { Option } from "commander";
import type { JobStatus } from "../../core/model/job.ts";
import { jobStatus } from "../../core/model/job.ts";
import type { CliConfig } from "../config.ts";
import { glyph } from "../style.ts";
import { ago, between } from "../time.ts";
import { limitOption } from "./arguments.ts";
import { listCommand } from "./list-command.ts";
import { collectPages } from "./pages.ts";

interface Options {
  readonly limit: number;
  readonly status?: JobStatus;
  readonly workflow?: string;
  readonly correlationId?: string;
  readonly search?: string;
}

const examples = `
Examples:
  rmhdag jobs list --status running
  rmhdag jobs list --workflow echo_test --limit 10 --json
`;

export function addJobsList(jobs: Command, config: CliConfig): void {
  const command = jobs
    .command("list")
    .description("list jobs, the newest first")
    .addOption(new Option("--status <status>", "only these").choices(jobStatus.options))
    .option("--workflow <id>", "only those of a workflow")
    .option("--correlation-id <id>", "only those of a correlation")
    .option("--search <text>", "part of an id or of the error")
    .addOption(limitOption())
    .addHelpText("after", examples);
  listCommand(command, config, {
    read: (client, { limit, status, workflow, correlationId, search }: Options) =>
      collectPages(limit, (paging) =>
        client.listJobs({
          query: {
            ...paging,
            status,
            workflow_id: workflow,
            correlation_id: correlationId,
            search,
          },
        }),
      ),
    none: "No such jobs. `rmhdag submit WORKFLOW` starts one.",
    columns: {
      JOB: (job) => job.job_id,
      WORKFLOW: (job) => job.workflow_id,
      STATE: (job) => `${glyph(job.status)} ${job.status}${job.paused ? ", paused" : ""}`,
      NODES: (job) => `${job.nodes_settled}/${job.nodes_total}`,
      CREATED: (job) => ago(job.created_at),
      TOOK: (job) => between(job.started_at, job.completed_at),
      ERROR: (job) => job.error?.message.slice(0, 60),
    },
  });
}
