import type { Command } from "commander";
import type { Client } from "../../core/api/client.ts";
import type { CliConfig } from "../config.ts";
import { connect } from "../connect.ts";
import { print, printJson } from "../output.ts";
import type { Cell } from "../table.ts";
import { table } from "../table.ts";
import { jsonOption } from "./arguments.ts";

export interface Listing<Item, Options> {
  readonly read: (client: Client, options: Options) => Promise<readonly Item[]>;
  readonly columns: Readonly<Record<string, (item: Item) => Cell>>;
  /** What is said when there is nothing, and what to do about it. */
  readonly none: string;
}

/** A table for people, an array for programs. */
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
