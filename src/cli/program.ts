import { Command } from "commander";
import { addAssets } from "./commands/assets.ts";
import { addCallbacks } from "./commands/callbacks.ts";
import { addCog } from "./commands/cog.ts";
import { addDemo } from "./commands/demo.ts";
import { addJobs } from "./commands/jobs.ts";
import { addKeys } from "./commands/keys.ts";
import { addLogs } from "./commands/logs.ts";
import { addMigrate } from "./commands/migrate.ts";
import { addNodes } from "./commands/nodes.ts";
import { addOrchestrators } from "./commands/orchestrators.ts";
import { addGateway, addPrograms } from "./commands/programs.ts";
import { addPlatforms } from "./commands/platforms.ts";
import { addQueues } from "./commands/queues.ts";
import { addStatus } from "./commands/status.ts";
import { addSubmit } from "./commands/submit.ts";
import { addTasks } from "./commands/tasks.ts";
import { addUp } from "./commands/up.ts";
import { addValidate } from "./commands/validate.ts";
import { addVersions } from "./commands/versions.ts";
import { addWorkers } from "./commands/workers.ts";
import { addWorkflows } from "./commands/workflows.ts";
import type { CliConfig } from "./config.ts";

/** A command is a file in commands/ with one `add…(program, config)`; name it here. */
const commands = [
  addDemo,
  addUp,
  addSubmit,
  addJobs,
  addLogs,
  addWorkflows,
  addAssets,
  addVersions,
  addPlatforms,
  addKeys,
  addCallbacks,
  addValidate,
  addCog,
  addStatus,
  addQueues,
  addWorkers,
  addOrchestrators,
  addNodes,
  addTasks,
  addPrograms,
  addGateway,
  addMigrate,
];

const examples = `
Examples:
  rmhdag demo                                               see it work: from files to a map
  rmhdag up                                                 run everything on this machine
  rmhdag submit echo_test --input message=hello --wait      and in another shell: a job
  rmhdag jobs list                                          what ran
`;

/** All that `rmhdag` understands; nothing is run by making it. */
export function createProgram(config: CliConfig): Command {
  const program = new Command("rmhdag")
    .description("Geospatial workflows on PostgreSQL")
    .version(config.version, "-V, --version", "print the version")
    .option("--url <url>", "the orchestrator (ORCHESTRATOR_URL; http://127.0.0.1:8000)")
    .option(
      "--token <token>",
      "what to authenticate with (RMHDAG_TOKEN; the token of a local `up`)",
    )
    .option("--data-dir <folder>", "where `up` keeps its data (RMHDAG_DATA_DIR; .rmhdag)")
    .addHelpText("after", examples)
    .showHelpAfterError("(add --help for what can be done)")
    .exitOverride();
  for (const add of commands) add(program, config);
  for (const command of program.commands) helpAfterError(command);
  return program;
}

function helpAfterError(command: Command): void {
  command.exitOverride().showHelpAfterError();
  for (const inner of command.commands) helpAfterError(inner);
}
