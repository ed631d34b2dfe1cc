import type { Command } from "commander";
import type { CliConfig } from "../config.ts";
import { addJobChanges } from "./jobs-change.ts";
import { addJobsEvents } from "./jobs-events.ts";
import { addJobsList } from "./jobs-list.ts";
import { addJobsShow } from "./jobs-show.ts";
import { addJobsWatch } from "./jobs-watch.ts";

const examples = `
Examples:
  rmhdag jobs list --status failed
  rmhdag jobs watch JOB
  rmhdag jobs rerun JOB --from validate
`;

export function addJobs(program: Command, config: CliConfig): void {
  const jobs = program
    .command("jobs")
    .description("see jobs, follow them, stop them, run them again")
    .addHelpText("after", examples);
  addJobsList(jobs, config);
  addJobsShow(jobs, config);
  addJobsWatch(jobs, config);
  addJobsEvents(jobs, config);
  addJobChanges(jobs, config);
}
