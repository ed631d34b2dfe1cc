import type { Command } from "commander";
import { Option } from "commander";
import { ApiError } from "../../core/api/api-error.ts";
import type { Client } from "../../core/api/client.ts";
import { fileZones } from "../../core/api/lineage.ts";
import { bytesText } from "../../core/model/bytes-text.ts";
import type { CliConfig } from "../common/config.ts";
import { Failure } from "../common/failure.ts";
import { stripControlCharacters } from "../common/format.ts";
import { connect } from "./connect.ts";
import {
  collectPages,
  jsonOption,
  limitOption,
  listCommand,
  printResult,
} from "./define-command.ts";

const kinds = ["path", "asset", "version", "item", "table", "job"] as const;
type Kind = (typeof kinds)[number];
type Lineage = Awaited<ReturnType<Client["getLineage"]>>;
type Thing = Lineage["edges"][number]["from"];

const examples = `
Examples:
  rmhdag lineage bronze/ddh/dem.tif            what was made of a file
  rmhdag lineage ASSET                         of all versions of an asset
  rmhdag lineage JOB --direction up            what a job has read
  rmhdag lineage terrain/dem --as item         an item, as collection/item
`;

export function addLineage(program: Command, config: CliConfig): void {
  program
    .command("lineage")
    .description("show what something was made of, and what was made of it")
    .argument("<thing>", "a path in storage, an asset, asset/ordinal, collection/item or a job")
    .addOption(new Option("--as <kind>", "what it is, where that is not clear").choices(kinds))
    .addOption(
      new Option("--direction <way>", "to its sources, to its products, or both")
        .choices(["both", "up", "down"])
        .default("both"),
    )
    .addOption(jsonOption())
    .addHelpText("after", examples)
    .action(
      async (
        given: string,
        options: { as?: Kind; direction: "both" | "up" | "down" },
        command: Command,
      ) => {
        const client = connect(command, config);
        const kind = options.as ?? (await kindOf(client, given));
        const { direction } = options;
        const found = await client.getLineage({ query: { [kind]: given, direction } });
        if (found.edges.length === 0)
          throw new Failure(`Nothing is known of the ${kind} ${given}.`);
        printResult(command, found, linesOf(found));
      },
    );
}

interface UnreferencedOptions {
  readonly zone: (typeof fileZones)[number];
  readonly limit: number;
}

export function addUnreferenced(program: Command, config: CliConfig): void {
  const command = program
    .command("unreferenced")
    .description("list files that tasks wrote and that no item, revision or export uses")
    .addOption(new Option("--zone <zone>", "of storage").choices([...fileZones]).default("silver"))
    .addOption(limitOption())
    .addHelpText("after", "\nExamples:\n  rmhdag unreferenced --zone silver --json\n");
  listCommand(command, config, {
    read: (client, { zone, limit }: UnreferencedOptions) =>
      collectPages(limit, (paging) => client.listUnreferencedFiles({ query: { ...paging, zone } })),
    none: "Every recorded file belongs to something.",
    columns: {
      PATH: ({ path }) => path,
      SIZE: ({ bytes }) => (bytes === null ? "–" : bytesText(bytes)),
      JOB: ({ job_id }) => job_id,
      NODE: ({ node_id }) => node_id,
      SEEN: ({ seen_at }) => seen_at,
    },
  });
}

/** Assets and jobs have ids of the same form, so the orchestrator is asked. */
async function kindOf(client: Client, given: string): Promise<Kind> {
  if (/^(?:bronze|silver|gold|external)\//.test(given)) return "path";
  if (/^[0-9a-f]{32}\/\d+$/.test(given)) return "version";
  if (given.includes("/")) return "item";
  if (!/^[0-9a-f]{32}$/.test(given)) return "table";
  try {
    await client.getAsset({ params: { asset_id: given } });
    return "asset";
  } catch (error) {
    if (error instanceof ApiError && error.code === "ASSET_NOT_FOUND") return "job";
    throw error;
  }
}

/** Two trees: the sources, and what was made. Each thing is printed once. */
function linesOf({ nodes, edges, truncated }: Lineage): string[] {
  const seen = new Set<string>();
  const keyOf = ({ kind, id }: Thing) => `${kind} ${id}`;
  const lines: string[] = [];
  function walk(thing: Thing, way: "up" | "down", depth: number): void {
    const next = edges.filter(({ from, to }) => keyOf(way === "down" ? from : to) === keyOf(thing));
    for (const { from, to, relation } of next) {
      const other = way === "down" ? to : from;
      if (seen.has(keyOf(other))) continue;
      seen.add(keyOf(other));
      const arrow = way === "down" ? "→" : "←";
      lines.push(`${"  ".repeat(depth)}${arrow} ${relation} ${keyOf(other)}`);
      walk(other, way, depth + 1);
    }
  }
  for (const root of nodes.filter(({ distance }) => distance === 0)) {
    lines.push(keyOf(root));
    seen.add(keyOf(root));
    walk(root, "up", 1);
    walk(root, "down", 1);
  }
  if (truncated) lines.push("… there is more than was followed");
  return lines.map(stripControlCharacters);
}
