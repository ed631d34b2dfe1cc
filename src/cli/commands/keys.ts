import type { Command } from "commander";
import { Option } from "commander";
import type { KeyScope } from "../../core/model/platform.ts";
import { keyScope } from "../../core/model/platform.ts";
import type { CliConfig } from "../config.ts";
import { connect } from "../connect.ts";
import { say } from "../output.ts";
import { ago } from "../time.ts";
import { acting, tell } from "./acting.ts";
import { wholeNumber } from "./arguments.ts";
import { listCommand } from "./list-command.ts";

const once = "It is shown this once: keep it where secrets are kept.";

export function addKeys(program: Command, config: CliConfig): void {
  const keys = program
    .command("keys")
    .description("API keys with which platforms reach the gateway")
    .addHelpText("after", "\nExamples:\n  rmhdag keys create ddh --name portal --scope submit\n");
  const list = keys
    .command("list")
    .description("list keys, the newest first; never the keys themselves")
    .option("--platform <id>", "only those of a platform")
    .addHelpText("after", "\nExamples:\n  rmhdag keys list --platform ddh\n");
  listCommand(list, config, {
    read: async (client, { platform }: { platform?: string }) =>
      (await client.listKeys({ query: { platform_id: platform } })).items,
    none: "No such keys. `rmhdag keys create PLATFORM` makes one.",
    columns: {
      KEY: (key) => key.key_id,
      PLATFORM: (key) => key.platform_id,
      NAME: (key) => key.name,
      SCOPES: (key) => key.scopes.join(","),
      CREATED: (key) => ago(key.created_at),
      EXPIRES: (key) => key.expires_at,
      REVOKED: (key) => key.revoked_at,
    },
  });
  acting(keys, "create", "make a key of a platform", "ddh --name portal --scope submit read")
    .argument("<platform>")
    .requiredOption("--name <text>", "whose it is")
    .addOption(
      new Option("--scope <scope...>", "what it may do")
        .choices(keyScope.options)
        .makeOptionMandatory(),
    )
    .option("--expires <time>", "when it ends, such as 2027-01-01T00:00:00Z")
    .action(
      async (
        platform_id: string,
        { name, scope, expires }: { name: string; scope: KeyScope[]; expires?: string },
        command: Command,
      ) => {
        const made = await connect(command, config).createKey({
          body: { platform_id, name, scopes: scope, expires_at: expires },
        });
        tell(command, made, [made.key]);
        say(once);
      },
    );
  acting(keys, "rotate", "make the key that follows another", "KEY --grace 3600")
    .argument("<key>")
    .option("--grace <seconds>", "how long the old one stays good", wholeNumber(0, 2_592_000))
    .action(async (key_id: string, { grace }: { grace?: number }, command: Command) => {
      const made = await connect(command, config).rotateKey({
        params: { key_id },
        body: { grace_seconds: grace },
      });
      tell(command, made, [made.key]);
      say(once);
    });
  acting(keys, "revoke", "end a key now", "KEY")
    .argument("<key>")
    .action(async (key_id: string, _: unknown, command: Command) => {
      const key = await connect(command, config).revokeKey({ params: { key_id }, body: {} });
      tell(command, key, [`${key_id}: revoked`]);
    });
}
