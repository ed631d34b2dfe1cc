import path from "node:path";
import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import type { CliConfig } from "../common/config.ts";
import { dataFolder } from "./connect.ts";
import { UsageError } from "../common/failure.ts";
import { createPaint, print } from "../common/output.ts";
import type { Paint } from "../common/output.ts";
import type { WorkerKind } from "../up/environment.ts";
import { workerQueues } from "../up/environment.ts";
import type { RunningSite } from "../up/run-site.ts";
import { SiteRunner } from "../up/run-site.ts";
import { onStopSignals } from "../up/stop-signals.ts";
import { handlerFolders, handlersOption, wholeNumber } from "./define-command.ts";

interface Options {
  readonly handlers?: string[];
  readonly port: number | string;
  readonly gatewayPort?: number;
  readonly host: string;
  readonly workers: readonly WorkerKind[];
}

type Settings = Options & { readonly port: number; readonly gatewayPort: number };

const examples = `
Examples:
  rmhdag up                                 on port 8000, with data in .rmhdag
  rmhdag up --port 9000 --data-dir /tmp/x   on another port, with data in another folder
  rmhdag up --workers light,light,heavy     with more workers
  DATABASE_URL=postgres://… rmhdag up       on a PostgreSQL of your own

Ctrl-C stops everything in order; a second Ctrl-C ends at once.
`;

export function addUp(program: Command, config: CliConfig): void {
  program
    .command("up")
    .description("run everything on this machine: database, orchestrator, workers and gateway")
    .addOption(
      new Option("--port <port>", "port of the orchestrator; 0 takes any free port")
        .default(config.port)
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option(
        "--gateway-port <port>",
        "port of the gateway (7071; any free port when --port is 0)",
      ).argParser(wholeNumber(0, 65_535)),
    )
    .option("--host <address>", "address to listen on", config.host)
    .option("--workers <kinds>", "the workers to start, by kind", workerKinds, ["light", "heavy"])
    .addOption(handlersOption())
    .addHelpText("after", examples)
    .action(async (options: Options, command: Command) => {
      // Commander does not parse a default value, and this one comes from the environment.
      const port = defaultPort(options.port, "ORCHESTRATOR_PORT");
      const fallback = port === 0 ? 0 : defaultPort(config.gatewayPort ?? "7071", "GATEWAY_PORT");
      const settings = { ...options, port, gatewayPort: options.gatewayPort ?? fallback };
      const environment = { ...config.environment, ...handlerFolders(options.handlers, config) };
      await runUp(settings, dataFolder(command, config), { ...config, environment });
    });
}

/** Resolves when everything has stopped. */
async function runUp(options: Settings, folder: string, config: CliConfig): Promise<void> {
  const paint = createPaint(config, process.stdout);
  const onLine = linePrinter(paint, options.workers);
  const starting = new AbortController();
  let stop: (exitCode: number) => void = () => undefined;
  const asked = new Promise<number>((resolve) => (stop = resolve));
  const runner = new SiteRunner({
    ...options,
    config,
    dataFolder: folder,
    onLine,
    onFatal: (reason) => {
      onLine("up", reason);
      starting.abort();
      stop(1);
    },
    signal: starting.signal,
  });

  onStopSignals(
    () => {
      onLine("up", "stopping; press Ctrl-C again to end at once");
      starting.abort();
      stop(0);
    },
    () => {
      runner.kill();
      process.exit(1);
    },
  );
  try {
    const isElsewhere = folder !== path.resolve(config.dataFolder);
    const site = await runner.start();
    welcome(site, await site.loginUrl(), paint, isElsewhere ? ` --data-dir ${folder}` : "");
    process.exitCode = await asked;
  } catch (error) {
    // A stop during the start is no failure.
    if (!starting.signal.aborted) throw error;
    process.exitCode = await asked;
  } finally {
    await runner.stop();
  }
  onLine("up", "stopped");
}

function welcome(site: RunningSite, loginUrl: string, paint: Paint, where: string): void {
  const { url, gatewayUrl, database } = site;
  const gateway = gatewayUrl === undefined ? "" : `\n  partners ${gatewayUrl}/api/docs`;
  print(
    `
${paint("green", "✓ rmhdag is running")} at ${paint("bold", url)}

  look    ${loginUrl}
  API     ${url}/api/v1/docs${gateway}
  data    ${database}

The link signs you in once, within minutes; \`npx rmhdag login-code${where}\` prints another.
Try, in another shell:

  npx rmhdag submit echo_test --input message=hello --wait${where}

Ctrl-C stops everything.
`,
  );
}

/** Prints a line with the name of its program, each program in another colour. */
function linePrinter(paint: Paint, workers: readonly WorkerKind[]) {
  const colours = ["cyan", "magenta", "yellow", "blue", "green"] as const;
  const known = new Map<string, (typeof colours)[number]>();
  const width = Math.max("orchestrator".length, workers.length > 9 ? 10 : 9);
  return (name: string, text: string): void => {
    const colour = known.get(name) ?? colours[known.size % colours.length] ?? "cyan";
    known.set(name, colour);
    for (const line of text.split("\n"))
      print(`${paint(colour, `${name.padEnd(width)} │`)} ${line}`);
  };
}

function defaultPort(given: number | string, name: string): number {
  if (typeof given === "number") return given;
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new UsageError(`${name} is "${given}": it must be a number from 0 to 65535.`);
}

function workerKinds(text: string): WorkerKind[] {
  const kinds = text.split(",").map((kind) => kind.trim());
  return kinds.filter((kind) => kind !== "").map(workerKind);
}

function workerKind(text: string): WorkerKind {
  if (Object.hasOwn(workerQueues, text)) return text as WorkerKind;
  throw new InvalidArgumentError(`"${text}" is none of ${Object.keys(workerQueues).join(", ")}.`);
}
