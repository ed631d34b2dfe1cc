import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import type { CliConfig } from "../common/config.ts";
import { grouped } from "../common/format.ts";
import { print, say } from "../common/output.ts";
import { connect } from "./connect.ts";
import { jobIdOf } from "./find-job.ts";

const examples = `
Examples:
  rmhdag jobs result JOB | jq .tiles
  rmhdag jobs result JOB --output result.json
  rmhdag jobs result JOB --node gather          the output of one node
  rmhdag jobs result JOB --node mosaic --params the parameters that it was given

Exit status: 0 when there is a result; 1 while the job runs, and when it failed.
`;

interface Options {
  readonly output?: string;
  readonly node?: string;
  readonly params?: true;
}

/** Prints the whole result, as the orchestrator stores it: values that `jobs show` cuts are complete. */
export function addJobsResult(jobs: Command, config: CliConfig): void {
  jobs
    .command("result")
    .description("print the whole result of a job as JSON, however large it is")
    .argument("<job>", "its id, or the beginning of it")
    .option("--output <file>", "write it to a file instead")
    .option("--node <node>", "the output of this node instead")
    .option("--params", "with --node: its parameters instead")
    .option("--json", "the result is always JSON; also prints errors as JSON")
    .addHelpText("after", examples)
    .action(async (given: string, options: Options, command: Command) => {
      const client = connect(command, config);
      const job_id = await jobIdOf(client, given);
      const { node: node_id, output } = options;
      if (options.params === true && node_id === undefined)
        command.error("error: --params needs --node");
      const text =
        node_id === undefined
          ? await client.getJobResult({ params: { job_id } })
          : options.params === true
            ? await client.getNodeParams({ params: { job_id, node_id } })
            : await client.getNodeOutput({ params: { job_id, node_id } });
      if (output === undefined) print(text);
      else {
        await writeFile(output, text);
        say(`${grouped(Buffer.byteLength(text))} bytes written to ${output}`);
      }
    });
}
