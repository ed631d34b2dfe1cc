import { Command } from "commander";
import { addAssets } from "./commands/assets.ts";
import { addCallbacks } from "./commands/callbacks.ts";
import { addH3 } from "./commands/h3.ts";
import { addCog } from "./commands/cog.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addDemo } from "./commands/demo.ts";
import { addGet, addLs, addPut, addRm } from "./commands/files.ts";
import { addHandlers } from "./commands/handlers.ts";
import { addIngest } from "./commands/ingest.ts";
import { addInit } from "./commands/init.ts";
import { addJobs } from "./commands/jobs.ts";
import { addKeys } from "./commands/keys.ts";
import { addLineage, addUnreferenced } from "./commands/lineage.ts";
import { addLogs } from "./commands/logs.ts";
import { addGateway, addMigrate, addPrograms } from "./commands/programs-migrate.ts";
import { addNodes, addTasks } from "./commands/nodes-tasks.ts";
import { addOrchestrators, addWorkers } from "./commands/workers-orchestrators.ts";
import { addPlatforms } from "./commands/platforms.ts";
import { addQueues } from "./commands/queues.ts";
import { addRetention } from "./commands/retention.ts";
import { addStatus } from "./commands/status.ts";
import { addSubmit } from "./commands/submit.ts";
import { addLoginCode, addSessions, addTokens } from "./commands/tokens-sessions.ts";
import { addUp } from "./commands/up.ts";
import { addValidate } from "./commands/validate.ts";
import { addVersions } from "./commands/versions.ts";
import { addWorkflows } from "./commands/workflows.ts";
import type { CliConfig } from "./common/config.ts";

/**
 * Each `add…(program, config)` of a file in commands/ adds one command; the order is that of
 * --help.
 */
const commands = [
  addDemo,
  addUp,
  addInit,
  addLoginCode,
  addIngest,
  addPut,
  addLs,
  addGet,
  addRm,
  addSubmit,
  addJobs,
  addLogs,
  addWorkflows,
  addHandlers,
  addAssets,
  addVersions,
  addLineage,
  addUnreferenced,
  addPlatforms,
  addKeys,
  addCallbacks,
  addH3,
  addTokens,
  addSessions,
  addValidate,
  addCog,
  addStatus,
  addDoctor,
  addQueues,
  addWorkers,
  addOrchestrators,
  addNodes,
  addTasks,
  addRetention,
  addPrograms,
  addGateway,
  addMigrate,
];

const examples = `
Examples:
  rmhdag demo                                               turn sample files into layers on a map
  rmhdag up                                                 run everything on this machine
  rmhdag ingest dem.tif                                     in another shell: from a file to a map
  rmhdag submit echo_test --input message=hello --wait      run a job
  rmhdag jobs list                                          list the jobs
`;

/** Declares all commands of `rmhdag`; `parseAsync` runs one of them. */
export function createProgram(config: CliConfig): Command {
  const program = new Command("rmhdag")
    .description("Geospatial workflows on PostgreSQL")
    .version(config.version, "-V, --version", "print the version")
    .option("--url <url>", "URL of the orchestrator (ORCHESTRATOR_URL; http://127.0.0.1:8000)")
    .option(
      "--token <token>",
      "token to authenticate with (RMHDAG_TOKEN; the token of a local `up`)",
    )
    .option("--data-dir <folder>", "folder for the data of `up` (RMHDAG_DATA_DIR; .rmhdag)")
    .addHelpText("after", examples)
    .showHelpAfterError("(add --help to see the options)")
    .exitOverride();
  for (const add of commands) add(program, config);
  for (const command of program.commands) helpAfterError(command);
  return program;
}

function helpAfterError(command: Command): void {
  command.exitOverride().showHelpAfterError();
  for (const inner of command.commands) helpAfterError(inner);
}
