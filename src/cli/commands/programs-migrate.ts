import { once } from "node:events";
import type { Command } from "commander";
import { workflowFolders } from "../common/config.ts";
import type { CliConfig } from "../common/config.ts";
import { print, printJson, say } from "../common/output.ts";
import { openDatabase } from "../up/open-database.ts";
import { spawnProgram } from "../up/spawn-program.ts";
import type { ProgramName } from "../up/spawn-program.ts";
import { onStopSignals } from "../up/stop-signals.ts";
import { dataFolder } from "./connect.ts";
import { handlerFolders, handlersOption, jsonOption } from "./define-command.ts";

const orchestratorExamples = `
Examples:
  DATABASE_URL=postgres://… rmhdag orchestrator
  ORCHESTRATOR_PORT=9000 DATABASE_URL=postgres://… rmhdag orchestrator

Any number of orchestrators may share one database. The README lists the settings.
`;

const workerExamples = `
Examples:
  DATABASE_URL=postgres://… rmhdag worker
  DATABASE_URL=postgres://… rmhdag worker --handlers ./handlers
  DAG_CALLBACK_URL=http://… DAG_SERVICE_TOKEN=… WORKER_QUEUE=gpu rmhdag worker --handlers ./handlers
  WORKER_QUEUE=container-tasks WORKER_CONCURRENCY=8 DATABASE_URL=postgres://… rmhdag worker

Any number of workers may share one database. The README lists the settings.
`;

const gatewayExamples = `
Examples:
  GATEWAY_DATABASE_URL=postgres://gateway_login:…@… ORCHESTRATOR_URL=http://… rmhdag gateway

Its database user can only read: see deploy/gateway-role.sql. docs/gateway.md lists the settings.
`;

/** Adds the commands that run one program alone, configured by the environment. */
export function addPrograms(program: Command, config: CliConfig): void {
  program
    .command("orchestrator")
    .description("run one orchestrator on the database of DATABASE_URL")
    .addHelpText("after", orchestratorExamples)
    .action(async (_, command: Command) => {
      const RMHDAG_WORKFLOWS = workflowFolders(config);
      await run("orchestrator", { ...environment(command, config), RMHDAG_WORKFLOWS });
    });
  program
    .command("worker")
    .description("run one worker on the database of DATABASE_URL, or over HTTP on DAG_CALLBACK_URL")
    .addOption(handlersOption())
    .addHelpText("after", workerExamples)
    .action(async ({ handlers }: { handlers?: string[] }, command: Command) => {
      await run("worker", { ...environment(command, config), ...handlerFolders(handlers, config) });
    });
}

/** The gateway keeps no files, so it gets no data folder. */
export function addGateway(program: Command, config: CliConfig): void {
  program
    .command("gateway")
    .description("run one gateway for partners on the database of GATEWAY_DATABASE_URL")
    .addHelpText("after", gatewayExamples)
    .action(async () => {
      await run("gateway", config.environment);
    });
}

function environment(command: Command, config: CliConfig): NodeJS.ProcessEnv {
  return { ...config.environment, RMHDAG_DATA_DIR: dataFolder(command, config) };
}

/** Runs a program with our output, passes signals on to it, and ends with its exit status. */
async function run(name: ProgramName, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawnProgram(name, env, "inherit");
  const pass = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  onStopSignals(pass, pass);
  const [code] = (await once(child, "close")) as [number | null];
  process.exitCode = code ?? 1;
}

const migrateExamples = `
Examples:
  rmhdag migrate                              the embedded database in .rmhdag
  DATABASE_URL=postgres://… rmhdag migrate    a PostgreSQL of your own

It is safe to run at any time, also from several processes at once.
`;

export function addMigrate(program: Command, config: CliConfig): void {
  program
    .command("migrate")
    .description("bring the schema of the database up to date")
    .addOption(jsonOption())
    .addHelpText("after", migrateExamples)
    .action(async (options: { json?: true }, command: Command) => {
      const database = await openDatabase(config, dataFolder(command, config), say);
      await database.close();
      const { applied, version } = database.migrated;
      if (options.json === true) printJson({ applied, version });
      else if (applied.length === 0) print(`version ${version}: nothing to apply`);
      else print(`version ${version}: applied ${applied.join(", ")}`);
    });
}
