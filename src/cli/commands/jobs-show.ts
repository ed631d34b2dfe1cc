import type { Command } from "commander";
import { systemClock } from "../../adapters/runtime/clock.ts";
import { isFinished } from "../../core/model/job.ts";
import type { CliConfig } from "../config.ts";
import { connect } from "../connect.ts";
import { print, printJson } from "../output.ts";
import { createPaint } from "../style.ts";
import { drawTree } from "../watch/draw-tree.ts";
import { viewOf } from "../watch/job-view.ts";
import { firstFailure } from "../watch/report-end.ts";
import { treeOf } from "../watch/tree-of.ts";
import { jsonOption } from "./arguments.ts";

export function addJobsShow(jobs: Command, config: CliConfig): void {
  jobs
    .command("show")
    .description("show a job: its nodes, inputs and result")
    .argument("<job>")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  rmhdag jobs show JOB\n  rmhdag jobs show JOB --json\n")
    .action(async (jobId: string, options: { json?: true }, command: Command) => {
      const client = connect(command, config);
      const job = await client.getJob({ params: { job_id: jobId } });
      if (options.json === true) {
        printJson(job);
        return;
      }
      const paint = createPaint(config, process.stdout);
      const columns = process.stdout.isTTY ? process.stdout.columns : Infinity;
      const now = systemClock.now();
      print(drawTree(viewOf(job), await treeOf(client, job), { paint, now, columns }).join("\n"));
      print(`\ninputs  ${JSON.stringify(job.input_params)}`);
      if (job.result_data !== null) print(`result  ${JSON.stringify(job.result_data, null, 2)}`);
      if (isFinished(job.status)) for (const line of firstFailure(job)) print(line);
    });
}
