import { Command, CommanderError } from "commander";
import { addValidate } from "./commands/validate.ts";
import { readConfig } from "./config.ts";
import { quietOnClosedPipe } from "./output.ts";

/** A command is a file in commands/ with one `add…(program, config)`; name it here. */
const commands = [addValidate];

quietOnClosedPipe();
const config = readConfig();
const program = new Command("rmhdag")
  .description("Geospatial workflows on PostgreSQL")
  .version(config.version, "-V, --version", "print the version")
  .showHelpAfterError("(add --help for what can be done)")
  .exitOverride();
for (const add of commands) add(program, config);
for (const command of program.commands) command.exitOverride().showHelpAfterError();

try {
  await program.parseAsync();
} catch (error) {
  // Commander has told the user already; wrong usage is 2, and --help and --version are 0.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
