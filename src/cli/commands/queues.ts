import type { Command } from "commander";
import type { CliConfig } from "../config.ts";
import { connect } from "../connect.ts";
import { plural, print, printJson } from "../output.ts";
import { ago, duration } from "../time.ts";
import { jsonOption, wholeNumber } from "./arguments.ts";
import { listCommand } from "./list-command.ts";

const examples = `
Examples:
  rmhdag queues
  rmhdag queues dead-letters container-tasks
  rmhdag queues requeue container-tasks 17 18
`;

export function addQueues(program: Command, config: CliConfig): void {
  const queues = program
    .command("queues")
    .description("list the queues: what waits, what is in flight, what died, who serves them")
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
    },
  });
  addDeadLetters(queues, config);
  addRequeue(queues, config);
}

function addDeadLetters(queues: Command, config: CliConfig): void {
  queues
    .command("dead-letters")
    .description("list messages that were given up, the newest first")
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
      else if (items.length === 0) print(`No message of ${queue} was given up.`);
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
    .description("put messages that were given up back on their queue")
    .argument("<queue>")
    .argument("<ids...>", "as `dead-letters` lists them")
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

/** The option may have been taken by `queues` itself, which has it too. */
function isJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: true }>().json === true;
}
