import path from "node:path";
import type { Command } from "commander";
import { bytesText } from "../../core/model/bytes-text.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { CliConfig } from "../common/config.ts";
import { Failure } from "../common/failure.ts";
import { print, printJson, say } from "../common/output.ts";
import { ingest } from "../demo/ingest.ts";
import { withSidecars } from "../files/open-source.ts";
import type { Connection } from "../files/put-file.ts";
import { putFile } from "../files/put-file.ts";
import { openConnection } from "./connect.ts";
import { collect, jsonOption } from "./define-command.ts";
import { inputTypes, readInputs } from "./inputs.ts";

interface Options {
  readonly to: string;
  readonly workflow?: string;
  readonly input: readonly string[];
  readonly replace?: true;
  readonly json?: true;
}

const examples = `
Examples:
  rmhdag ingest dem.tif                                  a raster becomes a layer with a map
  rmhdag ingest roads.zip lakes.gpkg                     so do vector files
  rmhdag ingest dem.tif --input collection_id=alps       with inputs of the workflow
`;

export function addIngest(program: Command, config: CliConfig): void {
  program
    .command("ingest")
    .description("put files into storage, run the workflow that fits, and print their maps")
    .argument("<file...>", "GeoTIFF, GeoPackage, zipped Shapefile, GeoJSON and others")
    .option("--to <folder>", "where in storage the files go", "bronze/ingest")
    .option("--workflow <id>", "this workflow and not the one that is suggested")
    .option("--input <name=value>", "one input of the workflow; may be repeated", collect, [])
    .option("--replace", "replace files that are there")
    .addOption(jsonOption())
    .addHelpText("after", examples)
    .action(async (files: string[], options: Options, self: Command) => {
      const connection = openConnection(self, config);
      const made = [];
      for (const file of files) made.push(await ingestFile(connection, file, options));
      if (options.json === true) printJson(made);
    });
}

async function ingestFile(connection: Connection, file: string, options: Options) {
  const { client } = connection;
  const quiet = options.json === true;
  const tell = (line: string) => {
    if (!quiet) say(line);
  };
  const folder = options.to.replace(/\/+$/, "");
  const stored: string[] = [];
  for (const each of await withSidecars(file)) {
    const to = `${folder}/${path.basename(each)}`;
    const put = await putFile(connection, each, to, { replace: options.replace === true, quiet });
    tell(`${to}  ${bytesText(put.bytes)}, checksum verified`);
    stored.push(to);
  }
  const [main = ""] = stored;
  const found = await client.recogniseFile({ query: { path: main } });
  const workflow = options.workflow ?? found.workflow_id;
  if (workflow === null) {
    throw new Failure(
      `${file} is ${found.format}, for which no workflow is known: name one with --workflow. ` +
        `The file is at ${main}.`,
    );
  }
  tell(`${found.format}${describe(found.details)}: ${workflow}`);
  const types = await inputTypes(client, workflow, options.input);
  const inputs = { ...found.inputs, ...(await readInputs(options.input, undefined, types)) };
  const { signal } = new AbortController();
  const made = await ingest({ client, workflow, inputs, signal, onLine: tell });
  const item = `/stac/collections/${made.collection_id}/items/${made.item_id}`;
  // The link also signs the user in, whose browser has no session yet.
  const { url: map } = await client.createLoginCode({ body: { next: `${item}/map` } });
  if (!quiet) print(map);
  return { file, path: main, kind: found.kind, format: found.format, workflow, ...made, map };
}

function describe({ width, height, bands, crs }: JsonObject): string {
  if (typeof width !== "number" || typeof height !== "number") return "";
  const where = typeof crs === "string" ? `, ${crs}` : "";
  return ` of ${width} × ${height} pixels, bands: ${JSON.stringify(bands)}${where}`;
}
