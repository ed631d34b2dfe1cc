import type { Command } from "commander";
import type { Client } from "../../core/api/client.ts";
import type { CliConfig } from "../config.ts";
import { connect } from "../connect.ts";
import { readInputs } from "../inputs.ts";
import { print, printJson } from "../output.ts";
import { watchJob } from "../watch/watch-job.ts";
import { jsonOption } from "./arguments.ts";

type Changed = Awaited<ReturnType<Client["pauseJob"]>>;
type Submitted = Awaited<ReturnType<Client["retryJob"]>>;

/** The verbs that change a job, and those that make a new one of it. */
export function addJobChanges(jobs: Command, config: CliConfig): void {
  change(jobs, "cancel", "stop a job: nothing new starts, and running tasks are told to stop")
    .option("--reason <text>", "why; kept with the job")
    .action(async (jobId: string, { reason }: { reason?: string }, command: Command) => {
      const params = { job_id: jobId };
      told(command, await connect(command, config).cancelJob({ params, body: { reason } }));
    });
  change(jobs, "pause", "start nothing new; what runs may finish").action(
    async (jobId: string, _: unknown, command: Command) => {
      told(command, await connect(command, config).pauseJob({ params: { job_id: jobId } }));
    },
  );
  change(jobs, "resume", "go on with a paused job").action(
    async (jobId: string, _: unknown, command: Command) => {
      told(command, await connect(command, config).resumeJob({ params: { job_id: jobId } }));
    },
  );
  change(jobs, "retry", "a new job that keeps what succeeded and runs again what failed")
    .option("--wait", "follow the new job to its end")
    .action(async (jobId: string, _: unknown, command: Command) => {
      const client = connect(command, config);
      const made = await client.retryJob({ params: { job_id: jobId } });
      await begun(client, config, command, made);
    });
  change(jobs, "rerun", "a new job that runs again from a node, with everything behind it")
    .requiredOption("--from <node>", "the first node that runs again")
    .option("--input <name=value>", "another input than before; may be given often", collect, [])
    .option("--wait", "follow the new job to its end")
    .action(async (jobId: string, options: { from: string; input: string[] }, command: Command) => {
      const client = connect(command, config);
      const inputs = await readInputs(options.input, undefined);
      const made = await client.rerunJob({
        params: { job_id: jobId },
        body: { from_node: options.from, ...(options.input.length > 0 ? { inputs } : {}) },
      });
      await begun(client, config, command, made);
    });
}

function change(jobs: Command, verb: string, description: string): Command {
  const more = verb === "rerun" ? " --from NODE" : "";
  return jobs
    .command(verb)
    .description(description)
    .argument("<job>")
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  rmhdag jobs ${verb} JOB${more}\n`);
}

function told(command: Command, changed: Changed): void {
  if (command.opts<{ json?: true }>().json === true) {
    printJson(changed);
    return;
  }
  const { job_id, status, paused, cancel_requested } = changed;
  const more = [paused ? "paused" : "", cancel_requested ? "cancelling" : ""].filter(Boolean);
  print([`${job_id}: ${status}`, ...more].join(", "));
}

async function begun(
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

function collect(value: string, earlier: readonly string[]): string[] {
  return [...earlier, value];
}
