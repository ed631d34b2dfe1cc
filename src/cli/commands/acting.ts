import type { Command } from "commander";
import { print, printJson } from "../output.ts";
import { jsonOption } from "./arguments.ts";

/** A command that changes one thing and tells what it is now. */
export function acting(
  parent: Command,
  name: string,
  description: string,
  example: string,
): Command {
  return parent
    .command(name)
    .description(description)
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  rmhdag ${parent.name()} ${name} ${example}\n`);
}

/** JSON for programs, lines for people. */
export function tell(command: Command, value: object, lines: readonly string[]): void {
  if (command.opts<{ json?: true }>().json === true) printJson(value);
  else for (const line of lines) print(line);
}

export function collect(value: string, earlier: readonly string[]): string[] {
  return [...earlier, value];
}

/** If-Match, where the user says what they saw. */
export function ifMatch(rowVersion: string | number | undefined): Record<string, string> {
  return rowVersion === undefined ? {} : { "if-match": `"${rowVersion}"` };
}
