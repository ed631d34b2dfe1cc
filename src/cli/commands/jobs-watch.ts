import type { Command } from "commander";
import type { CliConfig } from "../config.ts";
import { connect } from "../connect.ts";
import { watchJob } from "../watch/watch-job.ts";

const examples = `
Examples:
  rmhdag jobs watch JOB
  rmhdag jobs watch JOB --json      every event from the first, one a line, then the finished job

Ctrl-C stops watching; the job goes on. Exit status: 0 only if the job completed.
`;

export function addJobsWatch(jobs: Command, config: CliConfig): void {
  jobs
    .command("watch")
    .description("follow a job to its end")
    .argument("<job>")
    .option("--json", "print one event a line, as JSON")
    .addHelpText("after", examples)
    .action(async (jobId: string, options: { json?: true }, command: Command) => {
      const client = connect(command, config);
      await watchJob({ client, config, jobId, json: options.json === true });
    });
}
