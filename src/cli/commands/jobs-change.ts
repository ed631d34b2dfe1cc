import { Option } from "commander";
import type { Command } from "commander";
import type { Client } from "../../core/api/client.ts";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { jobIdOf } from "./find-job.ts";
import { inputTypes, readInputs } from "./inputs.ts";
import { print, printJson } from "../common/output.ts";
import { watchJob } from "../watch/watch-job.ts";
import { collect, jsonOption } from "./define-command.ts";

type Changed = Awaited<ReturnType<Client["pauseJob"]>>;
type Submitted = Awaited<ReturnType<Client["retryJob"]>>;

/**
 * Adds cancel, pause and resume, which change a job, and retry and rerun, which submit a new one.
 */
export function addJobChanges(jobs: Command, config: CliConfig): void {
  change(jobs, "cancel", "stop a job: no task is started any more, running tasks are aborted")
    .option("--reason <text>", "why; stored with the job")
    .action(async (jobId: string, { reason }: { reason?: string }, command: Command) => {
      const client = connect(command, config);
      const params = { job_id: await jobIdOf(client, jobId) };
      printChanged(command, await client.cancelJob({ params, body: { reason } }));
    });
  change(jobs, "pause", "start no further task; running tasks finish").action(
    async (jobId: string, _: unknown, command: Command) => {
      const client = connect(command, config);
      const params = { job_id: await jobIdOf(client, jobId) };
      printChanged(command, await client.pauseJob({ params }));
    },
  );
  change(jobs, "resume", "continue a paused job").action(
    async (jobId: string, _: unknown, command: Command) => {
      const client = connect(command, config);
      const params = { job_id: await jobIdOf(client, jobId) };
      printChanged(command, await client.resumeJob({ params }));
    },
  );
  change(
    jobs,
    "retry",
    "submit a new job that keeps the completed nodes and runs the failed ones again",
  )
    .addOption(latestOption())
    .option("--wait", "follow the new job to its end")
    .action(async (jobId: string, { latest }: { latest?: true }, command: Command) => {
      const client = connect(command, config);
      const params = { job_id: await jobIdOf(client, jobId) };
      const submitted = await client.retryJob({ params, body: { latest } });
      await printSubmitted(client, config, command, submitted);
    });
  change(jobs, "rerun", "submit a new job that runs a node and all nodes after it again")
    .requiredOption("--from <node>", "the first node that runs again")
    .option(
      "--input <name=value>",
      "an input that differs from before; may be repeated",
      collect,
      [],
    )
    .addOption(latestOption())
    .option("--wait", "follow the new job to its end")
    .action(async (jobId: string, options: RerunOptions, command: Command) => {
      const client = connect(command, config);
      const params = { job_id: await jobIdOf(client, jobId) };
      const types =
        options.input.length === 0
          ? null
          : await inputTypes(client, (await client.getJob({ params })).workflow_id, options.input);
      const inputs = await readInputs(options.input, undefined, types);
      const submitted = await client.rerunJob({
        params,
        body: {
          from_node: options.from,
          latest: options.latest,
          ...(options.input.length > 0 ? { inputs } : {}),
        },
      });
      await printSubmitted(client, config, command, submitted);
    });
}

interface RerunOptions {
  readonly from: string;
  readonly input: string[];
  readonly latest?: true;
}

function latestOption(): Option {
  return new Option(
    "--latest",
    "use the newest version of the workflow; the kept nodes must be the same in it",
  );
}

function change(jobs: Command, verb: string, description: string): Command {
  const more = verb === "rerun" ? " --from NODE" : "";
  return jobs
    .command(verb)
    .description(description)
    .argument("<job>", "its id, or the beginning of it")
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  rmhdag jobs ${verb} JOB${more}\n`);
}

function printChanged(command: Command, changed: Changed): void {
  if (command.opts<{ json?: true }>().json === true) {
    printJson(changed);
    return;
  }
  const { job_id, status, paused, cancel_requested } = changed;
  const more = [paused ? "paused" : "", cancel_requested ? "cancelling" : ""].filter(Boolean);
  print([`${job_id}: ${status}`, ...more].join(", "));
}

async function printSubmitted(
  client: Client,
  config: CliConfig,
  command: Command,
  submitted: Submitted,
): Promise<void> {
  const { json, wait } = command.opts<{ json?: true; wait?: true }>();
  if (wait === true) {
    await watchJob({ client, config, jobId: submitted.job_id, json: json === true });
  } else if (json === true) printJson(submitted);
  else print(submitted.job_id);
}
