import type { Command } from "commander";
import { Option } from "commander";
import type { DeliveryState } from "../../core/model/request.ts";
import { deliveryState } from "../../core/model/request.ts";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { ago, stripControlCharacters } from "../common/format.ts";
import {
  addCommand,
  collectPages,
  limitOption,
  listCommand,
  printResult,
} from "./define-command.ts";

interface Filter {
  readonly limit: number;
  readonly platform?: string;
  readonly request?: string;
  readonly job?: string;
  readonly state?: DeliveryState;
}

export function addCallbacks(program: Command, config: CliConfig): void {
  const callbacks = program
    .command("callbacks")
    .description("list the callbacks to partners, show their attempts, send them again")
    .addHelpText("after", "\nExamples:\n  rmhdag callbacks list --state exhausted\n");
  const list = callbacks
    .command("list")
    .description("list callbacks, the newest first")
    .option("--platform <id>", "only callbacks to this platform")
    .option("--request <id>", "only callbacks of this request")
    .option("--job <id>", "only callbacks of this job, which no platform requested")
    .addOption(
      new Option("--state <state>", "only callbacks in this state").choices(deliveryState.options),
    )
    .addOption(limitOption())
    .addHelpText("after", "\nExamples:\n  rmhdag callbacks list --state pending\n");
  listCommand(list, config, {
    read: (client, { limit, platform, request, job, state }: Filter) =>
      collectPages(limit, (paging) =>
        client.listDeliveries({
          query: { ...paging, platform_id: platform, request_id: request, job_id: job, state },
        }),
      ),
    none: "No such callbacks. A request or job with a callback_url makes one when it finishes.",
    columns: {
      EVENT: (delivery) => delivery.event_id,
      TYPE: (delivery) => delivery.event_type,
      PLATFORM: (delivery) => delivery.platform_id,
      STATE: (delivery) => delivery.state,
      ATTEMPTS: (delivery) => delivery.attempts,
      CREATED: (delivery) => ago(delivery.created_at),
      URL: (delivery) => delivery.url,
      ERROR: (delivery) => delivery.last_error,
    },
  });
  addCommand(callbacks, "show", "show a callback with every attempt", "EVENT")
    .argument("<event>")
    .action(async (event_id: string, _: unknown, command: Command) => {
      const found = await connect(command, config).getDelivery({ params: { event_id } });
      const log = found.log.map(
        ({ attempt, attempted_at, status_code, error }) =>
          `  ${attempt}  ${attempted_at}  ${status_code ?? "–"}  ${error ?? "accepted"}`,
      );
      const head = `${found.event_type} to ${found.url}: ${found.state}`;
      printResult(
        command,
        found,
        [head, ...log, JSON.stringify(found.body)].map(stripControlCharacters),
      );
    });
  addCommand(callbacks, "redeliver", "send a callback again, with the same id", "EVENT")
    .argument("<event>")
    .action(async (event_id: string, _: unknown, command: Command) => {
      const found = await connect(command, config).redeliver({ params: { event_id } });
      printResult(command, found, [`${event_id}: ${found.state}`]);
    });
  addCommand(callbacks, "secret", "show the secret that callbacks are signed with", "ddh")
    .argument("[platform]", "the platform; without it, the secret of jobs without a platform")
    .option("--rotate", "make a new secret for the platform; for a day both sign")
    .action(
      async (platform_id: string | undefined, { rotate }: { rotate?: true }, command: Command) => {
        const client = connect(command, config);
        const shown =
          platform_id === undefined
            ? await client.jobCallbackSecret()
            : await client.callbackSecret({
                params: { platform_id },
                body: { rotate: rotate === true },
              });
        printResult(command, shown, [shown.secret]);
      },
    );
}
