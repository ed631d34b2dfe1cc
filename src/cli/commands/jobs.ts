import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { systemClock } from "../../adapters/runtime/clock.ts";
import { eventType } from "../../core/model/event.ts";
import type { EventType } from "../../core/model/event.ts";
import { isFinished, jobStatus } from "../../core/model/job.ts";
import type { JobStatus } from "../../core/model/job.ts";
import type { CliConfig } from "../common/config.ts";
import { ago, between, grouped, table } from "../common/format.ts";
import { createPaint, glyph, print, printJson } from "../common/output.ts";
import { treeOf } from "../watch/arrange-nodes.ts";
import { drawTree } from "../watch/draw-tree.ts";
import { viewOf } from "../watch/job-view.ts";
import { firstFailure, sizeOfLarge } from "../watch/report-end.ts";
import { watchJob } from "../watch/watch-job.ts";
import { connect } from "./connect.ts";
import {
  collectPages,
  jsonOption,
  limitOption,
  listCommand,
  wholeNumber,
} from "./define-command.ts";
import { jobIdOf } from "./find-job.ts";
import { addJobChanges } from "./jobs-change.ts";
import { addJobsResult } from "./jobs-result.ts";

const examples = `
Examples:
  rmhdag jobs list --status failed
  rmhdag jobs watch JOB
  rmhdag jobs result JOB
  rmhdag jobs rerun JOB --from validate
`;

export function addJobs(program: Command, config: CliConfig): void {
  const jobs = program
    .command("jobs")
    .description("list, show, watch, stop and rerun jobs")
    .addHelpText("after", examples);
  addJobsList(jobs, config);
  addJobsShow(jobs, config);
  addJobsResult(jobs, config);
  addJobsWatch(jobs, config);
  addJobsEvents(jobs, config);
  addJobChanges(jobs, config);
}

interface ListOptions {
  readonly limit: number;
  readonly status?: JobStatus;
  readonly workflow?: string;
  readonly correlationId?: string;
  readonly search?: string;
}

const listExamples = `
Examples:
  rmhdag jobs list --status running
  rmhdag jobs list --workflow echo_test --limit 10 --json
`;

function addJobsList(jobs: Command, config: CliConfig): void {
  const command = jobs
    .command("list")
    .description("list jobs, the newest first")
    .addOption(
      new Option("--status <status>", "only jobs in this state").choices(jobStatus.options),
    )
    .option("--workflow <id>", "only jobs of this workflow")
    .option("--correlation-id <id>", "only jobs with this correlation id")
    .option("--search <text>", "part of an id or of the error")
    .addOption(limitOption())
    .addHelpText("after", listExamples);
  listCommand(command, config, {
    read: (client, { limit, status, workflow, correlationId, search }: ListOptions) =>
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

function addJobsShow(jobs: Command, config: CliConfig): void {
  jobs
    .command("show")
    .description("show a job: its nodes, inputs and result")
    .argument("<job>", "its id, or the beginning of it")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  rmhdag jobs show JOB\n  rmhdag jobs show JOB --json\n")
    .action(async (given: string, options: { json?: true }, command: Command) => {
      const client = connect(command, config);
      const job = await client.getJob({ params: { job_id: await jobIdOf(client, given) } });
      if (options.json === true) {
        printJson(job);
        return;
      }
      const paint = createPaint(config, process.stdout);
      const columns = process.stdout.isTTY ? process.stdout.columns : Infinity;
      const now = systemClock.now();
      const tree = drawTree(viewOf(job), await treeOf(client, job), { paint, now, columns });
      print(bounded(tree, mostLines).join("\n"));
      if (job.trace_id !== null) print(`\ntrace   ${job.trace_url ?? job.trace_id}`);
      print(`\ninputs  ${shortened(JSON.stringify(job.input_params))}`);
      if (job.result_data !== null) {
        print(`result  ${shortened(JSON.stringify(job.result_data, null, 2))}`);
        const bytes = sizeOfLarge(job);
        if (bytes !== undefined) print(`${grouped(bytes)} bytes: rmhdag jobs result ${job.job_id}`);
      }
      // An open job has an error while its orchestrator cannot settle it.
      if (isFinished(job.status) || job.error !== null) {
        for (const line of firstFailure(job)) print(line);
      }
    });
}

/** `show` is for a screen; `--json` prints everything. */
const mostLines = 200;
const mostCharacters = 8000;

function bounded(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const more = `… and ${lines.length - most} more lines: add --json for all`;
  return [...lines.slice(0, most), more];
}

function shortened(text: string): string {
  if (text.length <= mostCharacters) return text;
  const more = grouped(text.length - mostCharacters);
  return `${text.slice(0, mostCharacters)}…\n… and ${more} more characters: add --json, or print the result with jobs result`;
}

const watchExamples = `
Examples:
  rmhdag jobs watch JOB
  rmhdag jobs watch JOB --json      every event from the first, one a line, then the finished job

Ctrl-C stops watching; the job continues. Exit status: 0 only if the job completed.
`;

function addJobsWatch(jobs: Command, config: CliConfig): void {
  jobs
    .command("watch")
    .description("follow a job to its end")
    .argument("<job>", "its id, or the beginning of it")
    .option("--json", "print one event a line, as JSON")
    .addHelpText("after", watchExamples)
    .action(async (given: string, options: { json?: true }, command: Command) => {
      const client = connect(command, config);
      const jobId = await jobIdOf(client, given);
      await watchJob({ client, config, jobId, json: options.json === true });
    });
}

interface EventOptions {
  readonly limit: number;
  readonly after?: number;
  readonly node?: string;
  readonly type?: EventType;
  readonly json?: true;
}

function addJobsEvents(jobs: Command, config: CliConfig): void {
  jobs
    .command("events")
    .description("list the events of a job, the oldest first")
    .argument("<job>", "its id, or the beginning of it")
    .option("--node <node>", "only events of this node")
    .option("--type <type>", "only events of this type, such as node_failed", parseType)
    .option("--after <seq>", "only events after this number", wholeNumber(0, 2_147_483_647))
    .addOption(limitOption(1000))
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  rmhdag jobs events JOB --type node_retry\n")
    .action(async (given: string, options: EventOptions, command: Command) => {
      const client = connect(command, config);
      const jobId = await jobIdOf(client, given);
      const { limit, after, node, type } = options;
      const events = await collectPages(limit, (paging) =>
        client.listJobEvents({
          params: { job_id: jobId },
          query: { ...paging, after, node_id: node, event_type: type },
        }),
      );
      if (options.json === true) {
        printJson(events);
        return;
      }
      const rows = events.map(({ seq, created_at, event_type, node_id, event_data }) => [
        seq,
        created_at.slice(11, 23),
        event_type,
        node_id,
        event_data === null ? null : JSON.stringify(event_data).slice(0, 100),
      ]);
      print(table(["SEQ", "TIME", "EVENT", "NODE", "DATA"], rows));
    });
}

function parseType(text: string): EventType {
  const parsed = eventType.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`It is one of ${eventType.options.join(", ")}.`);
}
