import type { Command } from "commander";
import { Option } from "commander";
import type { CallbackEventType } from "../../core/model/request.ts";
import { callbackEventType } from "../../core/model/request.ts";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { addCommand, listCommand, printResult } from "./define-command.ts";

interface Edit {
  readonly to: string;
  readonly event?: CallbackEventType[];
  readonly inactive?: true;
}

/** Further addresses for the callbacks of a platform, each with its own secret. */
export function addPlatformCallbacks(platforms: Command, config: CliConfig): void {
  const list = platforms
    .command("callbacks")
    .description("list the further addresses that callbacks go to")
    .option("--platform <id>", "only those of this platform")
    .addHelpText("after", "\nExamples:\n  rmhdag platforms callbacks --platform ddh\n");
  listCommand(list, config, {
    read: async (client, { platform }: { platform?: string }) =>
      (await client.listCallbackAddresses({ query: { platform_id: platform } })).items,
    none: "No further addresses. `rmhdag platforms set-callback` adds one.",
    columns: {
      PLATFORM: (each) => each.platform_id,
      NAME: (each) => each.name,
      ACTIVE: (each) => (each.is_active ? "yes" : "no"),
      EVENTS: (each) => (each.event_types.length === 0 ? "all" : each.event_types.join(",")),
      URL: (each) => each.url,
    },
  });
  addCommand(
    platforms,
    "set-callback",
    "send callbacks to one more address, or change it",
    "ddh audit --to https://audit.example.org/hook",
  )
    .argument("<platform>")
    .argument("<name>", "a name for the address")
    .requiredOption("--to <url>", "on a host of the platform's list")
    .addOption(
      new Option("--event <type...>", "only these events").choices(callbackEventType.options),
    )
    .option("--inactive", "send nothing to it for now")
    .action(async (platform_id: string, name: string, edit: Edit, command: Command) => {
      const saved = await connect(command, config).putCallbackAddress({
        params: { platform_id, name },
        body: {
          url: edit.to,
          event_types: edit.event ?? [],
          is_active: edit.inactive !== true,
        },
      });
      printResult(command, saved, [`${platform_id} ${name}: ${saved.url}`]);
    });
  addCommand(platforms, "remove-callback", "send no more callbacks to an address", "ddh audit")
    .argument("<platform>")
    .argument("<name>")
    .action(async (platform_id: string, name: string, _: unknown, command: Command) => {
      const params = { platform_id, name };
      const gone = await connect(command, config).deleteCallbackAddress({ params });
      printResult(command, gone, [`${platform_id} ${name}: removed`]);
    });
  addCommand(platforms, "callback-secret", "show the secret of an address", "ddh audit")
    .argument("<platform>")
    .argument("<name>")
    .option("--rotate", "make a new secret; for a day both sign")
    .action(
      async (
        platform_id: string,
        name: string,
        { rotate }: { rotate?: true },
        command: Command,
      ) => {
        const shown = await connect(command, config).callbackAddressSecret({
          params: { platform_id, name },
          body: { rotate: rotate === true },
        });
        printResult(command, shown, [shown.secret]);
      },
    );
}
