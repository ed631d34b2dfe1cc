import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import { Option } from "commander";
import type { Client } from "../../core/api/client.ts";
import { fileFormats } from "../../core/api/layer-files.ts";
import { mostZoom } from "../../core/vector/export-formats.ts";
import { isFinished } from "../../core/model/job.ts";
import type { CliConfig } from "../common/config.ts";
import { Failure } from "../common/failure.ts";
import { grouped } from "../common/format.ts";
import { say } from "../common/output.ts";
import { connect } from "./connect.ts";
import { addCommand, printResult, wholeNumber } from "./define-command.ts";

interface Options {
  readonly format: (typeof fileFormats)[number];
  readonly ordinal?: number;
  readonly maxZoom?: number;
  readonly output: string;
}

const betweenMs = 500;

/** Writes the data of a version in a format, waits for the files, and downloads them. */
export function addAssetsExport(assets: Command, config: CliConfig): void {
  addCommand(
    assets,
    "export",
    "download the data of an asset in a format of choice",
    "ASSET --format geoparquet --output data",
  )
    .argument("<asset>")
    .addOption(
      new Option("--format <format>", "cog: rasters as they are stored; the others: features only")
        .choices(fileFormats)
        .makeOptionMandatory(),
    )
    .option(
      "--ordinal <version>",
      "by default the latest approved one, or the newest with data",
      wholeNumber(0, 2_147_483_647),
    )
    .option(
      "--max-zoom <zoom>",
      "of pmtiles: the highest zoom that has tiles; by default up to 10, less for large areas",
      wholeNumber(0, mostZoom),
    )
    .option("--output <folder>", "where the files are written", ".")
    .action(async (asset_id: string, options: Options, command: Command) => {
      const client = connect(command, config);
      const version_ordinal = options.ordinal ?? (await servedVersion(client, asset_id));
      const params = { asset_id, version_ordinal };
      const { format, maxZoom: max_zoom } = options;
      const { job_id } = await client.writeFiles({ params, body: { format, max_zoom } });
      const files = await finishedFiles(client, { ...params, job_id });
      await mkdir(options.output, { recursive: true });
      const written: string[] = [];
      for (const file of files) {
        const target = path.join(options.output, path.posix.basename(file.path));
        await download(file.url, target);
        say(`${grouped(file.bytes)} bytes written to ${target}`);
        written.push(target);
      }
      printResult(command, { job_id, version_ordinal, files: written }, written);
    });
}

async function servedVersion(client: Client, asset_id: string): Promise<number> {
  const asset = await client.getAsset({ params: { asset_id } });
  const approved = asset.latest_approved_version_ordinal;
  const newest = asset.versions.findLast(
    ({ served_revision, deleted_at }) => served_revision !== null && deleted_at === null,
  );
  const found = approved ?? newest?.version_ordinal;
  if (found === undefined) throw new Failure(`The asset ${asset_id} has no version with data.`);
  return found;
}

async function finishedFiles(
  client: Client,
  params: { asset_id: string; version_ordinal: number; job_id: string },
) {
  for (;;) {
    const { status, error, files } = await client.getFiles({ params });
    if (status === "completed" && files.length > 0) return files;
    if (isFinished(status)) throw new Failure(error ?? `The job ${params.job_id} is ${status}.`);
    await pause(betweenMs);
  }
}

async function download(url: string, target: string): Promise<void> {
  const answer = await fetch(url);
  if (!answer.ok || answer.body === null) {
    throw new Failure(`The file could not be read: the server answered ${answer.status}.`);
  }
  await pipeline(Readable.fromWeb(answer.body as never), createWriteStream(target));
}
