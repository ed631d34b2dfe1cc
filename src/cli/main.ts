import { CommanderError } from "commander";
import { readConfig } from "./common/config.ts";
import { describeError, describeProblem, UsageError } from "./common/failure.ts";
import { quietOnClosedPipe, say } from "./common/output.ts";
import { createProgram } from "./program.ts";

quietOnClosedPipe();

try {
  await createProgram(readConfig()).parseAsync();
} catch (error) {
  // Commander has printed its message already: exit 2 for wrong usage, 0 for --help and --version.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    say(process.argv.includes("--json") ? describeProblem(error) : describeError(error));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
