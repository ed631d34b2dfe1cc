import type { Command } from "commander";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { inputTypes, readInputs } from "./inputs.ts";
import { workflowOf } from "./submit-file.ts";
import { print, printJson, say } from "../common/output.ts";
import { watchJob } from "../watch/watch-job.ts";
import { collect, wholeNumber } from "./define-command.ts";

interface Options {
  readonly input: readonly string[];
  readonly inputs?: string;
  readonly priority?: number;
  readonly idempotencyKey?: string;
  readonly correlationId?: string;
  readonly wait?: true;
  readonly json?: true;
}

const examples = `
Examples:
  rmhdag submit echo_test --input message=hello --wait
  rmhdag submit fan_out_test --input 'item_list=[1, 2, 3]'      values are read by the declared type
  rmhdag submit workflows/my.yaml                               a file that the orchestrator reads
  rmhdag submit data_pipeline_test --inputs inputs.yaml         JSON or YAML; - for standard input
  rmhdag submit echo_test --wait --json | tail -1               events, then the finished job

Exit status: 0 when the job was accepted, with --wait only if it completed; 1 otherwise.
`;

export function addSubmit(program: Command, config: CliConfig): void {
  program
    .command("submit")
    .description("start a job of a workflow")
    .argument("<workflow>", "its id, as `rmhdag workflows list` shows it, or its file")
    .option("--input <name=value>", "one input; may be repeated", collect, [])
    .option("--inputs <file>", "a file of inputs, JSON or YAML; - reads standard input")
    .option("--priority <n>", "0 to 10; a higher priority runs first", wholeNumber(0, 10))
    .option("--idempotency-key <key>", "a second submission with this key answers the first's job")
    .option("--correlation-id <id>", "your own id, by which the job can be found")
    .option("--wait", "follow the job to its end")
    .option("--json", "print JSON for other programs; with --wait one event a line")
    .addHelpText("after", examples)
    .action(async (workflow: string, options: Options, command: Command) => {
      const client = connect(command, config);
      const id = await workflowOf(client, config, workflow);
      const types = await inputTypes(client, id, options.input);
      const submitted = await client.submitJob({
        body: {
          workflow_id: id,
          inputs: await readInputs(options.input, options.inputs, types),
          priority: options.priority,
          idempotency_key: options.idempotencyKey,
          correlation_id: options.correlationId,
        },
      });
      const json = options.json === true;
      if (options.wait !== true) {
        if (json) printJson(submitted);
        else {
          print(submitted.job_id);
          if (!submitted.created)
            say("This job was submitted before with the same idempotency key.");
          say(`Watch it: rmhdag jobs watch ${submitted.job_id}`);
        }
        return;
      }
      await watchJob({ client, config, jobId: submitted.job_id, json });
    });
}
