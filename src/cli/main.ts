import { CommanderError } from "commander";
import { readConfig } from "./config.ts";
import { describeError, UsageError } from "./failure.ts";
import { quietOnClosedPipe, say } from "./output.ts";
import { createProgram } from "./program.ts";

quietOnClosedPipe();

try {
  await createProgram(readConfig()).parseAsync();
} catch (error) {
  // Commander has told the user already; wrong usage is 2, and --help and --version are 0.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    say(describeError(error));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
