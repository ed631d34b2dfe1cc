import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import type { EventType } from "../../core/model/event.ts";
import { eventType } from "../../core/model/event.ts";
import type { CliConfig } from "../config.ts";
import { connect } from "../connect.ts";
import { printJson, print } from "../output.ts";
import { table } from "../table.ts";
import { jsonOption, limitOption, wholeNumber } from "./arguments.ts";
import { collectPages } from "./pages.ts";

interface Options {
  readonly limit: number;
  readonly after?: number;
  readonly node?: string;
  readonly type?: EventType;
  readonly json?: true;
}

export function addJobsEvents(jobs: Command, config: CliConfig): void {
  jobs
    .command("events")
    .description("list everything that happened to a job, the oldest first")
    .argument("<job>")
    .option("--node <node>", "only what happened to this node")
    .option("--type <type>", "only events of this type, such as node_failed", parseType)
    .option("--after <seq>", "only events behind this number", wholeNumber(0, 2_147_483_647))
    .addOption(limitOption(1000))
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  rmhdag jobs events JOB --type node_retry\n")
    .action(async (jobId: string, options: Options, command: Command) => {
      const client = connect(command, config);
      const { limit, after, node, type } = options;
      const events = await collectPages(limit, (paging) =>
        client.listJobEvents({
          params: { job_id: jobId },
          query: { ...paging, after, node_id: node, event_type: type },
        }),
      );
      if (options.json === true) {
        printJson(events);
        return;
      }
      const rows = events.map(({ seq, created_at, event_type, node_id, event_data }) => [
        seq,
        created_at.slice(11, 23),
        event_type,
        node_id,
        event_data === null ? null : JSON.stringify(event_data).slice(0, 100),
      ]);
      print(table(["SEQ", "TIME", "EVENT", "NODE", "DATA"], rows));
    });
}

function parseType(text: string): EventType {
  const parsed = eventType.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`It is one of ${eventType.options.join(", ")}.`);
}
