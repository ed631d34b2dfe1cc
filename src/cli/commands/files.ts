import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { pour, writeWhole } from "../../adapters/storage/transfer.ts";
import { bytesText } from "../../core/model/bytes-text.ts";
import type { CliConfig } from "../common/config.ts";
import { Failure, UsageError } from "../common/failure.ts";
import { plural, table } from "../common/format.ts";
import { print, printJson, say } from "../common/output.ts";
import { findFiles } from "../files/open-source.ts";
import { placeFiles } from "../files/place-files.ts";
import type { PutResult } from "../files/put-file.ts";
import { putFile } from "../files/put-file.ts";
import { connect, openConnection } from "./connect.ts";
import { jsonOption, limitOption } from "./define-command.ts";

interface JsonOption {
  readonly json?: true;
}

const putExamples = `
Examples:
  rmhdag put dem.tif bronze/dem.tif              one file, under this name
  rmhdag put roads.zip lakes.gpkg bronze/maps    several, into a folder
  rmhdag put ./survey bronze/                    a folder with everything in it

A broken upload goes on where it stopped: give the same command again. Every file is checked by its
SHA-256 before it appears.
`;

export function addPut(program: Command, config: CliConfig): void {
  program
    .command("put")
    .description("put files and folders into storage")
    .argument("<file...>", "files or folders, and last the place in storage, such as bronze/maps")
    .option("--replace", "replace files that are there")
    .addOption(jsonOption())
    .addHelpText("after", putExamples)
    .action(async (given: string[], options: JsonOption & { replace?: true }, self: Command) => {
      const target = given.at(-1) ?? "";
      if (given.length < 2) throw new UsageError("Say where it goes, such as bronze/maps.");
      const connection = openConnection(self, config);
      const placed = placeFiles(await findFiles(given.slice(0, -1)), target);
      if (placed.length === 0) throw new Failure("There is no file to put.");
      const quiet = options.json === true;
      const put: PutResult[] = [];
      for (const { file, path: to } of placed) {
        const replace = options.replace === true;
        const result = await putFile(connection, file, to, { replace, quiet });
        put.push(result);
        if (!quiet) print(`${result.path}  ${bytesText(result.bytes)}  ${words[result.status]}`);
      }
      if (quiet) printJson(put);
      else if (put.length > 1) say(`${plural(put.length, "file")}.`);
    });
}

const words = {
  put: "put, checksum verified",
  resumed: "put from where it had stopped, checksum verified",
  unchanged: "was there already, with the same content",
} satisfies Record<PutResult["status"], string>;

export function addLs(program: Command, config: CliConfig): void {
  program
    .command("ls")
    .description("list a folder of storage, or the zones")
    .argument("[folder]", "such as bronze/maps")
    .addOption(limitOption(1000))
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  rmhdag ls bronze\n  rmhdag ls bronze/maps --json\n")
    .action(async (folder: string | undefined, options: JsonOption & { limit: number }, self) => {
      const client = connect(self as Command, config);
      const folders: string[] = [];
      const items: { path: string; bytes: number; modified_at: string }[] = [];
      let cursor: string | undefined;
      do {
        const limit = Math.min(1000, options.limit - folders.length - items.length);
        const found = await client.browseStorage({ query: { folder, limit, cursor } });
        folders.push(...found.folders);
        items.push(...found.items);
        cursor = found.next_cursor ?? undefined;
      } while (cursor !== undefined && folders.length + items.length < options.limit);
      if (options.json === true) printJson({ folders, items });
      else if (folders.length + items.length === 0) {
        print(
          `There is nothing in ${folder ?? "storage"}: \`rmhdag put FILE bronze/\` adds a file.`,
        );
      } else {
        print(
          table(
            ["path", "size", "changed"],
            [
              ...folders.map((each) => [each, "", ""]),
              ...items.map((each) => [each.path, bytesText(each.bytes), each.modified_at]),
            ],
          ),
        );
      }
    });
}

export function addGet(program: Command, config: CliConfig): void {
  program
    .command("get")
    .description("copy a file of storage to this machine")
    .argument("<path>", "such as silver/cogs/dem.tif")
    .argument("[file]", "its name here; - writes it to standard output")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExamples:\n  rmhdag get bronze/dem.tif\n  rmhdag get bronze/a.csv - | head\n",
    )
    .action(async (from: string, to: string | undefined, options: JsonOption, self: Command) => {
      const { client, baseUrl, token } = openConnection(self, config);
      const address = `/api/v1/storage/${from.split("/").map(encodeURIComponent).join("/")}`;
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const answer = await fetch(baseUrl.replace(/\/+$/, "") + address, { headers });
      // Asked again by the client, whose error says what is wrong.
      if (!answer.ok) await client.readFile({ params: { path: from } });
      const body = answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body);
      if (to === "-") {
        await pipeline(body, process.stdout, { end: false });
        return;
      }
      const file = to ?? path.basename(from);
      const bytes = Number(answer.headers.get("content-length") ?? 0);
      await writeWhole(file, (temporary) => pour(body, temporary, bytes));
      if (options.json === true) printJson({ path: from, file, bytes });
      else print(`${file}  ${bytesText(bytes)}`);
    });
}

export function addRm(program: Command, config: CliConfig): void {
  program
    .command("rm")
    .description("delete files of storage")
    .argument("<path...>", "such as bronze/dem.tif")
    .option("--force", "delete files that something was made of, too")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  rmhdag rm bronze/dem.tif\n")
    .action(async (paths: string[], options: JsonOption & { force?: true }, self: Command) => {
      const client = connect(self, config);
      const force = options.force === true ? ("true" as const) : ("false" as const);
      const deleted = [];
      for (const each of paths) {
        deleted.push(await client.deleteFile({ params: { path: each }, query: { force } }));
        if (options.json !== true) print(`deleted ${each}`);
      }
      if (options.json === true) printJson(deleted);
    });
}
