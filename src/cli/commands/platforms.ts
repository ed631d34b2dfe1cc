import type { Command } from "commander";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { addCommand, collect, ifMatch, listCommand, printResult } from "./define-command.ts";
import { addPlatformCallbacks } from "./platform-callbacks.ts";

interface Edit {
  readonly name: string;
  readonly ref: string[];
  readonly optionalRef: string[];
  readonly versionRef?: string;
  readonly callbackUrl?: string;
  readonly callbackHost: string[];
  readonly sourcePrefix: string[];
  readonly collection: string[];
  readonly inactive?: true;
}

export function addPlatforms(program: Command, config: CliConfig): void {
  const platforms = program
    .command("platforms")
    .description("list and register the platforms that may submit")
    .addHelpText("after", "\nExamples:\n  rmhdag platforms list\n");
  const list = platforms
    .command("list")
    .description("list the platforms, by name")
    .addHelpText("after", "\nExamples:\n  rmhdag platforms list --json\n");
  listCommand(list, config, {
    read: async (client) => (await client.listPlatforms()).items,
    none: "No platform is registered. `rmhdag platforms set` registers one.",
    columns: {
      PLATFORM: (platform) => platform.platform_id,
      NAME: (platform) => platform.display_name,
      ACTIVE: (platform) => (platform.is_active ? "yes" : "no"),
      "REQUIRED REFS": (platform) => platform.required_refs.join(","),
      "VERSION REF": (platform) => platform.version_ref,
      "CALLBACK HOSTS": (platform) => platform.callback_hosts.join(","),
    },
  });
  addCommand(
    platforms,
    "set",
    "register a platform, or replace its registration",
    "ddh --name 'Data Hub' --ref dataset_id --ref resource_id --version-ref version_id",
  )
    .argument("<platform>")
    .requiredOption("--name <text>", "its display name")
    .requiredOption(
      "--ref <name>",
      "a reference that identifies its assets; may be repeated",
      collect,
      [],
    )
    .option("--optional-ref <name>", "a reference that may be absent; may be repeated", collect, [])
    .option("--version-ref <name>", "the reference that holds its version")
    .option("--callback-url <url>", "receives the callbacks of requests without a callback_url")
    .option(
      "--callback-host <host>",
      "a host that callbacks may go to; may be repeated",
      collect,
      [],
    )
    .option(
      "--source-prefix <place>",
      "where its files may be, instead of bronze/<platform>; may be repeated",
      collect,
      [],
    )
    .option(
      "--collection <id>",
      "a collection of others that its items may join; may be repeated",
      collect,
      [],
    )
    .option("--inactive", "refuse its submissions for now")
    .action(async (platform_id: string, edit: Edit, command: Command) => {
      const client = connect(command, config);
      const { items } = await client.listPlatforms();
      const known = items.find((each) => each.platform_id === platform_id);
      const made = await client.putPlatform({
        params: { platform_id },
        headers: ifMatch(known?.row_version),
        body: {
          display_name: edit.name,
          required_refs: edit.ref,
          optional_refs: edit.optionalRef,
          version_ref: edit.versionRef ?? null,
          callback_url: edit.callbackUrl ?? null,
          callback_hosts: edit.callbackHost,
          source_prefixes: edit.sourcePrefix,
          collections: edit.collection,
          is_active: edit.inactive !== true,
        },
      });
      printResult(command, made, [
        `${platform_id}: ${known === undefined ? "registered" : "replaced"}`,
      ]);
    });
  addPlatformCallbacks(platforms, config);
}
