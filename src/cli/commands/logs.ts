import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import { Option } from "commander";
import type { Client } from "../../core/api/client.ts";
import { logLevel } from "../../core/api/jobs.ts";
import { isFinished } from "../../core/model/job.ts";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { jobIdOf } from "./find-job.ts";
import { stripControlCharacters } from "../common/format.ts";
import { print, printJson } from "../common/output.ts";
import { wholeNumber } from "./define-command.ts";

interface Options {
  readonly node?: string;
  readonly level?: "debug" | "info" | "warn" | "error";
  readonly follow?: true;
  readonly limit: number;
  readonly json?: true;
}

type LogPage = Awaited<ReturnType<Client["listJobLogs"]>>;
type LogLine = LogPage["items"][number];

const examples = `
Examples:
  rmhdag logs JOB
  rmhdag logs JOB --node validate --level warn
  rmhdag logs JOB --follow
`;

const pollMs = 500;

export function addLogs(program: Command, config: CliConfig): void {
  program
    .command("logs")
    .description("print the log lines of a job's handlers, the oldest first")
    .argument("<job>", "its id, or the beginning of it")
    .option("--node <node>", "only lines of this node")
    .addOption(
      new Option("--level <level>", "only lines of this level and above").choices(logLevel.options),
    )
    .option("--follow", "continue until the job is finished")
    .option("--limit <n>", "how many lines at most", wholeNumber(1, 10_000_000), 10_000)
    .option("--json", "print JSON for other programs; with --follow one line each")
    .addHelpText("after", examples)
    .action(async (given: string, options: Options, command: Command) => {
      const client = connect(command, config);
      const jobId = await jobIdOf(client, given);
      if (options.json === true && options.follow !== true) {
        const lines: LogLine[] = [];
        for await (const line of readLog(client, jobId, options)) lines.push(line);
        printJson(lines);
        return;
      }
      for await (const line of readLog(client, jobId, options)) {
        print(options.json === true ? JSON.stringify(line) : describe(line));
      }
    });
}

async function* readLog(client: Client, jobId: string, options: Options): AsyncGenerator<LogLine> {
  const query = { node_id: options.node, level: options.level, limit: 500 };
  const params = { job_id: jobId };
  let cursor: string | undefined;
  let seen = new Set<number>();
  let count = 0;
  // The job's status is read before the last page of the log, so that its last lines are not
  // missed.
  let isLastRead = options.follow !== true;
  for (;;) {
    const page: LogPage = await client.listJobLogs({ params, query: { ...query, cursor } });
    for (const line of page.items) {
      if (seen.has(line.log_id)) continue;
      seen.add(line.log_id);
      yield line;
      if (++count >= options.limit) return;
    }
    if (page.next_cursor !== null) {
      cursor = page.next_cursor;
      seen = new Set();
      continue;
    }
    if (isLastRead) return;
    isLastRead = isFinished((await client.getJob({ params })).status);
    // The last page is read again: it has no next cursor, and may have grown. Workers write lines up to
    // 300 ms late, so the log of a finished job is complete only after a pause too.
    await pause(pollMs);
  }
}

function describe({ logged_at, level, node_id, message, data }: LogLine): string {
  const more = data === null || Object.keys(data).length === 0 ? "" : ` ${JSON.stringify(data)}`;
  const clock = logged_at.slice(11, 23);
  return `${clock} ${level.toUpperCase().padEnd(5)} ${node_id}: ${stripControlCharacters(message)}${stripControlCharacters(more)}`;
}
