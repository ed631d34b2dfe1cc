import { once } from "node:events";
import type { Command } from "commander";
import type { CliConfig } from "../config.ts";
import { workflowFolders } from "../config.ts";
import { dataFolder } from "../connect.ts";
import type { ProgramName } from "../up/program-file.ts";
import { spawnProgram } from "../up/spawn-program.ts";
import { onStopSignals } from "../up/stop-signals.ts";

const orchestratorExamples = `
Examples:
  DATABASE_URL=postgres://… rmhdag orchestrator
  ORCHESTRATOR_PORT=9000 DATABASE_URL=postgres://… rmhdag orchestrator

Any number of them may share one database. The README lists what can be set.
`;

const workerExamples = `
Examples:
  DATABASE_URL=postgres://… rmhdag worker
  WORKER_QUEUE=container-tasks WORKER_CONCURRENCY=8 DATABASE_URL=postgres://… rmhdag worker

Any number of them may share one database. The README lists what can be set.
`;

const gatewayExamples = `
Examples:
  GATEWAY_DATABASE_URL=postgres://gateway_login:…@… ORCHESTRATOR_URL=http://… rmhdag gateway

Its database user can only read: see deploy/gateway-role.sql. The README lists what can be set.
`;

/** The programs alone, as on a machine of their own; all is set by the environment. */
export function addPrograms(program: Command, config: CliConfig): void {
  program
    .command("orchestrator")
    .description("run one orchestrator, on the database that DATABASE_URL names")
    .addHelpText("after", orchestratorExamples)
    .action(async (_, command: Command) => {
      const RMHDAG_WORKFLOWS = workflowFolders(config);
      await run("orchestrator", { ...environment(command, config), RMHDAG_WORKFLOWS });
    });
  program
    .command("worker")
    .description("run one worker, on the database that DATABASE_URL names")
    .addHelpText("after", workerExamples)
    .action(async (_, command: Command) => {
      await run("worker", environment(command, config));
    });
}

/** It keeps no files, so it needs no folder. */
export function addGateway(program: Command, config: CliConfig): void {
  program
    .command("gateway")
    .description("run one gateway for partners, on the database that GATEWAY_DATABASE_URL names")
    .addHelpText("after", gatewayExamples)
    .action(async () => {
      await run("gateway", config.environment);
    });
}

function environment(command: Command, config: CliConfig): NodeJS.ProcessEnv {
  return { ...config.environment, RMHDAG_DATA_DIR: dataFolder(command, config) };
}

/** As if the program had been started itself: its output, its signals, its exit status. */
async function run(name: ProgramName, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawnProgram(name, env, "inherit");
  const pass = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  onStopSignals(pass, pass);
  const [code] = (await once(child, "close")) as [number | null];
  process.exitCode = code ?? 1;
}
