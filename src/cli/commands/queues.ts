import type { Command } from "commander";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { print, printJson } from "../common/output.ts";
import { ago, duration, plural } from "../common/format.ts";
import { jsonOption, listCommand, wholeNumber } from "./define-command.ts";

const examples = `
Examples:
  rmhdag queues
  rmhdag queues dead-letters container-tasks
  rmhdag queues requeue container-tasks 17 18
`;

export function addQueues(program: Command, config: CliConfig): void {
  const queues = program
    .command("queues")
    .description("list the queues: messages that wait, in flight and dead; workers that serve them")
    .addHelpText("after", examples);
  listCommand(queues, config, {
    read: async (client) => (await client.getQueues()).items,
    none: "No queue is declared.",
    columns: {
      QUEUE: (queue) => queue.queue,
      READY: (queue) => queue.ready,
      DELAYED: (queue) => queue.delayed,
      "IN FLIGHT": (queue) => queue.in_flight,
      DEAD: (queue) => queue.dead,
      OLDEST: (queue) =>
        queue.oldest_seconds === null ? null : duration(queue.oldest_seconds * 1000),
      WORKERS: (queue) => queue.workers,
      BUSY: (queue) => `${queue.busy}/${queue.slots}`,
      "WAITS FOR": (queue) => queue.waits_for,
    },
  });
  addDeadLetters(queues, config);
  addRequeue(queues, config);
}

function addDeadLetters(queues: Command, config: CliConfig): void {
  queues
    .command("dead-letters")
    .description("list the dead letters of a queue, the newest first")
    .argument("<queue>")
    .option("--limit <n>", "how many at most", wholeNumber(1, 500), 50)
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  rmhdag queues dead-letters container-tasks --json\n")
    .action(async (queue: string, options: { limit: number }, command: Command) => {
      const { items } = await connect(command, config).listDeadLetters({
        params: { queue },
        query: { limit: options.limit },
      });
      if (isJson(command)) printJson(items);
      else if (items.length === 0) print(`${queue} has no dead letters.`);
      for (const letter of isJson(command) ? [] : items) {
        const { id, reason, detail, delivery_count: deliveries, died_at, body } = letter;
        const why = detail === null ? reason : `${reason}: ${detail}`;
        print(`${id}  ${ago(died_at) ?? ""}, after ${plural(deliveries, "delivery")}  ${why}`);
        print(`  ${body}`);
      }
    });
}

function addRequeue(queues: Command, config: CliConfig): void {
  queues
    .command("requeue")
    .description("put dead letters back on their queue")
    .argument("<queue>")
    .argument("<ids...>", "their ids, as `dead-letters` lists them")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  rmhdag queues requeue container-tasks 17 18\n")
    .action(async (queue: string, ids: string[], _: unknown, command: Command) => {
      const client = connect(command, config);
      const answer = await client.requeueDeadLetters({ params: { queue }, body: { ids } });
      if (isJson(command)) printJson(answer);
      else print(`${plural(answer.requeued, "message")} put back on ${queue}`);
      if (answer.requeued < ids.length) process.exitCode = 1;
    });
}

/** `queues` has the option --json too, and may have consumed it. */
function isJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: true }>().json === true;
}
