import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Command } from "commander";
import { Option } from "commander";
import type { CliConfig } from "../common/config.ts";
import { dataFolder } from "./connect.ts";
import type { DemoSummary } from "../demo/run-demo.ts";
import { runDemo } from "../demo/run-demo.ts";
import { createPaint, print, printJson, say } from "../common/output.ts";
import { SiteRunner } from "../up/run-site.ts";
import { onStopSignals } from "../up/stop-signals.ts";
import { wholeNumber } from "./define-command.ts";

interface Options {
  readonly exit?: true;
  readonly json?: true;
  readonly port?: number;
}

const examples = `
Examples:
  rmhdag demo                  two layers on a map; the data stays in .rmhdag/demo
  rmhdag demo --exit           the same, checked and deleted; prints a JSON summary
  GDAL_ENGINE=wasm RMHDAG_POSTGRES=npm rmhdag demo      with GDAL and PostgreSQL from npm

Ctrl-C stops everything.
`;

export function addDemo(program: Command, config: CliConfig): void {
  program
    .command("demo")
    .description("turn sample files into layers on a map: a terrain and the borders of the world")
    .option("--exit", "stop when the layers are made, delete all data, print a summary as JSON")
    .option("--json", "print the summary as JSON")
    .addOption(
      new Option("--port <port>", "port to listen on (8000; with --exit any free port)").argParser(
        wholeNumber(0, 65_535),
      ),
    )
    .addHelpText("after", examples)
    .action(async (options: Options, command: Command) => {
      const isTemporary = options.exit === true;
      const folder = isTemporary
        ? await mkdtemp(path.join(tmpdir(), "rmhdag-demo-"))
        : path.join(dataFolder(command, config), "demo");
      try {
        await startDemo(options, folder, config);
      } finally {
        if (isTemporary) await rm(folder, { recursive: true, force: true });
      }
    });
}

async function startDemo(options: Options, folder: string, config: CliConfig): Promise<void> {
  const paint = createPaint(config, process.stderr);
  const stopping = new AbortController();
  let failure: string | undefined;
  const recent: string[] = [];
  const runner = new SiteRunner({
    config,
    dataFolder: folder,
    host: config.host,
    port: options.port ?? (options.exit === true ? 0 : Number(config.port)),
    gatewayPort: 0,
    workers: ["light", "heavy"],
    // The programs' log lines are printed only when the demo fails.
    onLine: (name, line) => {
      recent.push(`${name} │ ${line}`);
      if (recent.length > 40) recent.shift();
      if (name === "up") say(paint("dim", line));
    },
    onFatal: (reason) => {
      failure = reason;
      stopping.abort();
    },
    signal: stopping.signal,
  });
  onStopSignals(
    () => {
      say("stopping; press Ctrl-C again to end at once");
      stopping.abort();
    },
    () => {
      runner.kill();
      process.exit(1);
    },
  );
  try {
    const site = await runner.start();
    const { signal } = stopping;
    const summary = await runDemo(site, folder, { signal, say });
    if (options.exit === true || options.json === true) printJson({ ok: true, ...summary });
    else print(welcome(summary));
    if (options.exit !== true) await aborted(signal);
  } catch (error) {
    if (failure === undefined && stopping.signal.aborted) return;
    for (const line of recent) say(paint("dim", line));
    if (failure !== undefined) say(failure);
    throw error;
  } finally {
    await runner.stop();
  }
}

function welcome({ database, gdal, layers }: DemoSummary): string {
  const parts = layers.map(
    ({ name, map, item, job, seconds }) => `
  ${name}, ${seconds.toFixed(1)} s
    map    ${map}
    item   ${item}
    job    ${job}`,
  );
  return `
✓ Two files became three layers.
${parts.join("\n")}

  made with  ${gdal.join(", ")}
             ${database}

Ctrl-C stops everything; the data stays.
`;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => {
      resolve();
    });
  });
}
