import type { Command } from "commander";
import { Option } from "commander";
import type { Client } from "../../core/api/client.ts";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { readInputs } from "./inputs.ts";
import { stripControlCharacters } from "../common/format.ts";
import { addCommand, collect, printResult, wholeNumber } from "./define-command.ts";

interface Params {
  readonly asset_id: string;
  readonly version_ordinal: number;
}
type Change<Options> = (
  client: Client,
  params: Params,
  options: Options,
) => Promise<{ readonly value: object; readonly line: string }>;

export function addVersions(program: Command, config: CliConfig): void {
  const versions = program
    .command("versions")
    .description("approve, reject, reprocess, export and delete versions of an asset")
    .addHelpText("after", "\nExamples:\n  rmhdag versions approve ASSET 0 --clearance ouo\n");

  function change<Options>(
    name: string,
    description: string,
    example: string,
    run: Change<Options>,
  ): Command {
    return addCommand(versions, name, description, `ASSET 0 ${example}`.trim())
      .argument("<asset>")
      .argument("<version>", "its ordinal: 0, 1, …", wholeNumber(0, 2_147_483_647))
      .action(async (asset_id: string, ordinal: number, options: Options, command: Command) => {
        const params = { asset_id, version_ordinal: ordinal };
        const { value, line } = await run(connect(command, config), params, options);
        printResult(command, value, [stripControlCharacters(line)]);
      });
  }

  change("show", "show a version with its revisions", "", async (client, params) => {
    const value = await client.getAssetVersion({ params });
    const { approval_state, processing_state, revision, version_label } = value;
    const revisions = value.revisions.map((each) => {
      const from = each.restored_from === null ? "" : ` (of ${each.restored_from})`;
      return `  ${each.revision}${from}  ${each.processing_state}  ${each.created_at}`;
    });
    const head = `${version_label}: ${approval_state}, ${processing_state}, revision ${revision}`;
    return { value, line: [head, ...revisions].join("; ") };
  });
  change<{ clearance: "ouo" | "public"; note?: string }>(
    "approve",
    "approve a version and clear its asset",
    "--clearance ouo",
    async (client, params, { clearance, note }) => {
      const value = await client.approveVersion({ params, body: { clearance, note } });
      return { value, line: `approved; the asset is ${value.clearance_state}` };
    },
  )
    .addOption(
      new Option("--clearance <level>", "who may see it")
        .choices(["ouo", "public"])
        .makeOptionMandatory(),
    )
    .option("--note <text>");
  change<{ reason: string }>(
    "reject",
    "reject a version",
    "--reason 'the borders are wrong'",
    async (client, params, { reason }) => ({
      value: await client.rejectVersion({ params, body: { reason } }),
      line: "rejected",
    }),
  ).requiredOption("--reason <text>", "what is wrong with it");
  change<{ reason: string }>(
    "withdraw",
    "take an approval back; the version is no longer served at once",
    "--reason 'a complaint'",
    async (client, params, { reason }) => ({
      value: await client.withdrawVersion({ params, body: { reason } }),
      line: "withdrawn; the version waits for review again",
    }),
  ).requiredOption("--reason <text>", "why");
  change<{ reason?: string }>(
    "unpublish",
    "delete a version",
    "",
    async (client, params, { reason }) => ({
      value: await client.unpublishVersion({ params, body: { reason } }),
      line: "deleted",
    }),
  ).option("--reason <text>", "why");
  change<{ input: string[] }>(
    "resubmit",
    "submit an unresolved version again",
    "--input blob_path=better.tif",
    async (client, params, { input }) => {
      const inputs = input.length === 0 ? undefined : await readInputs(input, undefined);
      const value = await client.resubmitVersion({ params, body: { inputs } });
      return { value, line: `revision ${value.revision}, request ${value.request_id}` };
    },
  ).option(
    "--input <name=value>",
    "an input; the given ones replace all inputs; may be repeated",
    collect,
    [],
  );
  change<{ input: string[] }>(
    "reprocess",
    "process the same data again",
    "",
    async (client, params, { input }) => {
      const inputs = input.length === 0 ? undefined : await readInputs(input, undefined);
      const value = await client.reprocessVersion({ params, body: { inputs } });
      return { value, line: `revision ${value.revision}, request ${value.request_id}` };
    },
  ).option(
    "--input <name=value>",
    "an input that differs from before; may be repeated",
    collect,
    [],
  );
  change<{ to: number }>(
    "rollback",
    "serve the outputs of an earlier revision again",
    "--to 1",
    async (client, params, { to }) => {
      const value = await client.rollbackVersion({ params, body: { to_revision: to } });
      return { value, line: `revision ${to} is served again` };
    },
  ).requiredOption("--to <revision>", "the revision to serve", wholeNumber(1, 2_147_483_647));
  change("export", "start a failed export again", "", async (client, params) => ({
    value: await client.exportVersion({ params, body: {} }),
    line: "the export is running",
  }));
}
