/** Parts of commands: options that several commands have, listings, and the output of a change. */
import { existsSync } from "node:fs";
import path from "node:path";
import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Client } from "../../core/api/client.ts";
import type { CliConfig } from "../common/config.ts";
import { table } from "../common/format.ts";
import type { Cell } from "../common/format.ts";
import { print, printJson } from "../common/output.ts";
import { connect } from "./connect.ts";

/** Adds a command that shows or changes one thing; `printResult` prints what became of it. */
export function addCommand(
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

/** Prints JSON with --json, otherwise the lines. */
export function printResult(command: Command, value: object, lines: readonly string[]): void {
  if (command.opts<{ json?: true }>().json === true) printJson(value);
  else for (const line of lines) print(line);
}

/** For an option that may be given several times. */
export function collect(value: string, earlier: readonly string[]): string[] {
  return [...earlier, value];
}

/** The header If-Match: the change is refused if the row has another version by now. */
export function ifMatch(rowVersion: string | number | undefined): Record<string, string> {
  return rowVersion === undefined ? {} : { "if-match": `"${rowVersion}"` };
}

/** Parses an option's value; commander prints the message behind the option's name. */
export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };
}

/** Every listing has it. */
export function limitOption(fallback = 50): Option {
  return new Option("--limit <n>", "how many at most")
    .default(fallback)
    .argParser(wholeNumber(1, 100_000));
}

/** For the commands that start workers. */
export function handlersOption(): Option {
  return new Option(
    "--handlers <folder...>",
    "also offer the handlers in this folder: modules and programs (RMHDAG_HANDLERS)",
  );
}

/** The folders as workers read them: those given, or RMHDAG_HANDLERS, or ./handlers if it is there. */
export function handlerFolders(
  given: readonly string[] | undefined,
  { environment }: CliConfig,
): NodeJS.ProcessEnv {
  const isSet = (environment["RMHDAG_HANDLERS"] ?? "") !== "";
  const folders = given ?? (!isSet && existsSync("handlers") ? ["handlers"] : []);
  if (folders.length === 0) return {};
  return { RMHDAG_HANDLERS: folders.map((folder) => path.resolve(folder)).join(",") };
}

export function jsonOption(): Option {
  return new Option("--json", "print JSON for other programs");
}

export interface Listing<Item, Options> {
  readonly read: (client: Client, options: Options) => Promise<readonly Item[]>;
  readonly columns: Readonly<Record<string, (item: Item) => Cell>>;
  /** Printed instead of an empty table: that there is nothing, and what to do about it. */
  readonly none: string;
}

/** Makes a command print its items as a table, or as a JSON array with --json. */
export function listCommand<Item, Options>(
  command: Command,
  config: CliConfig,
  { read, columns, none }: Listing<Item, Options>,
): Command {
  return command
    .addOption(jsonOption())
    .action(async (options: Options & { json?: true }, self: Command) => {
      const items = await read(connect(self, config), options);
      if (options.json === true) printJson(items);
      else if (items.length === 0) print(none);
      else {
        const cells = items.map((item) => Object.values(columns).map((column) => column(item)));
        print(table(Object.keys(columns), cells));
      }
    });
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

const largestPage = 500;

/** Reads pages until there are `limit` items, or no more. */
export async function collectPages<Item>(
  limit: number,
  read: (paging: { limit: number; cursor: string | undefined }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  while (items.length < limit) {
    const page = await read({ limit: Math.min(largestPage, limit - items.length), cursor });
    items.push(...page.items);
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  return items;
}
