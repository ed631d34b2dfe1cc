import type { Command } from "commander";
import { Option } from "commander";
import type { KeyScope } from "../../core/model/platform.ts";
import { keyScope } from "../../core/model/platform.ts";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { say } from "../common/output.ts";
import { ago } from "../common/format.ts";
import { addCommand, listCommand, printResult, wholeNumber } from "./define-command.ts";

const once = "The key is shown only once: store it where you store secrets.";

export function addKeys(program: Command, config: CliConfig): void {
  const keys = program
    .command("keys")
    .description("list, create, rotate and revoke the API keys of platforms for the gateway")
    .addHelpText("after", "\nExamples:\n  rmhdag keys create ddh --name portal --scope submit\n");
  const list = keys
    .command("list")
    .description("list the ids and scopes of keys, the newest first; never their secrets")
    .option("--platform <id>", "only keys of this platform")
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
  addCommand(keys, "create", "make a key for a platform", "ddh --name portal --scope submit read")
    .argument("<platform>")
    .requiredOption("--name <text>", "the program or person that uses it")
    .addOption(
      new Option("--scope <scope...>", "what it may do")
        .choices(keyScope.options)
        .makeOptionMandatory(),
    )
    .option("--expires <time>", "when it expires, such as 2027-01-01T00:00:00Z")
    .action(
      async (
        platform_id: string,
        { name, scope, expires }: { name: string; scope: KeyScope[]; expires?: string },
        command: Command,
      ) => {
        const made = await connect(command, config).createKey({
          body: { platform_id, name, scopes: scope, expires_at: expires },
        });
        printResult(command, made, [made.key]);
        say(once);
      },
    );
  addCommand(keys, "rotate", "make a key that replaces another", "KEY --grace 3600")
    .argument("<key>")
    .option("--grace <seconds>", "how long the old key stays valid", wholeNumber(0, 2_592_000))
    .action(async (key_id: string, { grace }: { grace?: number }, command: Command) => {
      const made = await connect(command, config).rotateKey({
        params: { key_id },
        body: { grace_seconds: grace },
      });
      printResult(command, made, [made.key]);
      say(once);
    });
  addCommand(keys, "revoke", "make a key invalid at once", "KEY")
    .argument("<key>")
    .action(async (key_id: string, _: unknown, command: Command) => {
      const key = await connect(command, config).revokeKey({ params: { key_id }, body: {} });
      printResult(command, key, [`${key_id}: revoked`]);
    });
}
