import type { Command } from "commander";
import { Option } from "commander";
import type { DeliveryState } from "../../core/model/request.ts";
import { deliveryState } from "../../core/model/request.ts";
import type { CliConfig } from "../config.ts";
import { connect } from "../connect.ts";
import { harmless } from "../output.ts";
import { ago } from "../time.ts";
import { acting, tell } from "./acting.ts";
import { limitOption } from "./arguments.ts";
import { listCommand } from "./list-command.ts";
import { collectPages } from "./pages.ts";

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
    .description("see who was told of what, and tell them again")
    .addHelpText("after", "\nExamples:\n  rmhdag callbacks list --state exhausted\n");
  const list = callbacks
    .command("list")
    .description("list callbacks, the newest first")
    .option("--platform <id>", "only those to a platform")
    .option("--request <id>", "only those of a request")
    .option("--job <id>", "only those of a job that no platform asked for")
    .addOption(new Option("--state <state>", "only these").choices(deliveryState.options))
    .addOption(limitOption())
    .addHelpText("after", "\nExamples:\n  rmhdag callbacks list --state pending\n");
  listCommand(list, config, {
    read: (client, { limit, platform, request, job, state }: Filter) =>
      collectPages(limit, (paging) =>
        client.listDeliveries({
          query: { ...paging, platform_id: platform, request_id: request, job_id: job, state },
        }),
      ),
    none: "No such callbacks. A request or a job that names a callback_url makes one when it is done.",
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
  acting(callbacks, "show", "show a callback with every attempt", "EVENT")
    .argument("<event>")
    .action(async (event_id: string, _: unknown, command: Command) => {
      const found = await connect(command, config).getDelivery({ params: { event_id } });
      const log = found.log.map(
        ({ attempt, attempted_at, status_code, error }) =>
          `  ${attempt}  ${attempted_at}  ${status_code ?? "–"}  ${error ?? "accepted"}`,
      );
      const head = `${found.event_type} to ${found.url}: ${found.state}`;
      tell(command, found, [head, ...log, JSON.stringify(found.body)].map(harmless));
    });
  acting(callbacks, "redeliver", "send a callback again, with the same id", "EVENT")
    .argument("<event>")
    .action(async (event_id: string, _: unknown, command: Command) => {
      const found = await connect(command, config).redeliver({ params: { event_id } });
      tell(command, found, [`${event_id}: ${found.state}`]);
    });
  acting(callbacks, "secret", "show the secret that callbacks are signed with", "ddh")
    .argument("[platform]", "whose callbacks; those of jobs without a platform unless given")
    .option("--rotate", "make a new one for the platform; both sign for a day")
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
        tell(command, shown, [shown.secret]);
      },
    );
}
