import type { Command } from "commander";
import type { CliConfig } from "../config.ts";
import { dataFolder } from "../connect.ts";
import { print, printJson, say } from "../output.ts";
import { openDatabase } from "../up/open-database.ts";
import { jsonOption } from "./arguments.ts";

const examples = `
Examples:
  rmhdag migrate                              the embedded database in .rmhdag
  DATABASE_URL=postgres://… rmhdag migrate    a PostgreSQL of your own

It is safe to run at any time, from any number of processes at once.
`;

export function addMigrate(program: Command, config: CliConfig): void {
  program
    .command("migrate")
    .description("bring the schema of the database up to date")
    .addOption(jsonOption())
    .addHelpText("after", examples)
    .action(async (options: { json?: true }, command: Command) => {
      const database = await openDatabase(config, dataFolder(command, config), say);
      await database.close();
      const { applied, version } = database.migrated;
      if (options.json === true) printJson({ applied, version });
      else if (applied.length === 0) print(`version ${version}: nothing to apply`);
      else print(`version ${version}: applied ${applied.join(", ")}`);
    });
}
