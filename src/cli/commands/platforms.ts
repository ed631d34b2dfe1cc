import type { Command } from "commander";
import type { CliConfig } from "../config.ts";
import { connect } from "../connect.ts";
import { acting, collect, ifMatch, tell } from "./acting.ts";
import { listCommand } from "./list-command.ts";

interface Edit {
  readonly name: string;
  readonly ref: string[];
  readonly optionalRef: string[];
  readonly versionRef?: string;
  readonly callbackUrl?: string;
  readonly callbackHost: string[];
  readonly sourcePrefix: string[];
  readonly inactive?: true;
}

export function addPlatforms(program: Command, config: CliConfig): void {
  const platforms = program
    .command("platforms")
    .description("see and register the platforms that may submit")
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
  acting(
    platforms,
    "set",
    "register a platform, or replace what is registered",
    "ddh --name 'Data Hub' --ref dataset_id --ref resource_id --version-ref version_id",
  )
    .argument("<platform>")
    .requiredOption("--name <text>", "what people call it")
    .requiredOption("--ref <name>", "a reference that identifies its assets; often", collect, [])
    .option("--optional-ref <name>", "one that may; often", collect, [])
    .option("--version-ref <name>", "the reference in which it sends its version")
    .option("--callback-url <url>", "where requests are answered that name no address")
    .option("--callback-host <host>", "where callbacks may go; often", collect, [])
    .option("--source-prefix <place>", "where its files may lie, bronze/ddh; often", collect, [])
    .option("--inactive", "it may not submit for now")
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
          is_active: edit.inactive !== true,
        },
      });
      tell(command, made, [`${platform_id}: ${known === undefined ? "registered" : "replaced"}`]);
    });
}
