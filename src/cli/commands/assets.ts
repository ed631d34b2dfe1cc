import type { Command } from "commander";
import { Option } from "commander";
import type { Asset, AssetVersion } from "../../core/api/asset-schemas.ts";
import { clearanceState, exposure } from "../../core/model/asset.ts";
import type { ClearanceState, Exposure } from "../../core/model/asset.ts";
import { approvalState } from "../../core/model/version.ts";
import type { ApprovalState } from "../../core/model/version.ts";
import type { CliConfig } from "../common/config.ts";
import { addAssetsExport } from "./assets-export.ts";
import { connect } from "./connect.ts";
import { print } from "../common/output.ts";
import { ago, stripControlCharacters, table } from "../common/format.ts";
import {
  addCommand,
  collectPages,
  limitOption,
  listCommand,
  printResult,
} from "./define-command.ts";

interface Filter {
  readonly limit: number;
  readonly platform?: string;
  readonly approval?: ApprovalState;
  readonly clearance?: ClearanceState;
  readonly search?: string;
}

export function addAssets(program: Command, config: CliConfig): void {
  const assets = program
    .command("assets")
    .description("list, show and download assets, change who sees them, delete them")
    .addHelpText("after", "\nExamples:\n  rmhdag assets list --approval pending_review\n");
  addList(assets, config);
  addCommand(assets, "show", "show an asset: its versions and addresses", "ASSET")
    .argument("<asset>")
    .action(async (asset_id: string, _: unknown, command: Command) => {
      const asset = await connect(command, config).getAsset({ params: { asset_id } });
      printResult(command, asset, []);
      if (command.opts<{ json?: true }>().json !== true) describe(asset);
    });
  addCommand(assets, "events", "list the changes of an asset with their actors", "ASSET")
    .argument("<asset>")
    .addOption(limitOption(500))
    .action(async (asset_id: string, { limit }: { limit: number }, command: Command) => {
      const client = connect(command, config);
      const found = await collectPages(limit, (paging) =>
        client.listAssetEvents({ params: { asset_id }, query: paging }),
      );
      const lines = found.map((event) => {
        const version = event.version_ordinal === null ? "" : ` v${event.version_ordinal}`;
        return `${event.created_at}  ${event.event_type}${version}  ${event.actor} (${event.via})`;
      });
      printResult(command, found, lines.map(stripControlCharacters));
    });
  addCommand(assets, "clear", "change who may see an asset", "ASSET ouo")
    .argument("<asset>")
    .argument("<clearance>", clearanceState.options.join(", "))
    .option("--reason <text>")
    .action(
      async (
        asset_id: string,
        clearance: ClearanceState,
        { reason }: { reason?: string },
        command: Command,
      ) => {
        const client = connect(command, config);
        const body = { clearance, reason };
        const asset = await client.setClearance({ params: { asset_id }, body });
        printResult(command, asset, [`${asset_id}: ${asset.clearance_state}`]);
      },
    );
  addCommand(
    assets,
    "expose",
    "serve only the latest approved version, or all of them",
    "ASSET all-versions",
  )
    .argument("<asset>")
    .argument("<exposure>", exposure.options.join(", "))
    .action(async (asset_id: string, wanted: Exposure, _: unknown, command: Command) => {
      const client = connect(command, config);
      const asset = await client.setExposure({
        params: { asset_id },
        body: { exposure: wanted },
      });
      printResult(command, asset, [`${asset_id}: ${asset.exposure}`]);
    });
  addAssetsExport(assets, config);
  addCommand(assets, "unpublish", "delete an asset with all its versions", "ASSET --reason mistake")
    .argument("<asset>")
    .option("--reason <text>")
    .action(async (asset_id: string, { reason }: { reason?: string }, command: Command) => {
      const client = connect(command, config);
      const asset = await client.unpublishAsset({ params: { asset_id }, body: { reason } });
      printResult(command, asset, [`${asset_id}: deleted`]);
    });
}

function addList(assets: Command, config: CliConfig): void {
  const list = assets
    .command("list")
    .description("list assets, the latest change first")
    .option("--platform <id>", "only assets of this platform")
    .addOption(
      new Option("--approval <state>", "only assets with a version in this state").choices(
        approvalState.options,
      ),
    )
    .addOption(
      new Option("--clearance <state>", "only assets with this clearance").choices(
        clearanceState.options,
      ),
    )
    .option("--search <text>", "part of the id, a reference or the name")
    .addOption(limitOption())
    .addHelpText("after", "\nExamples:\n  rmhdag assets list --approval pending_review\n");
  listCommand(list, config, {
    read: (client, { limit, platform, approval, clearance, search }: Filter) =>
      collectPages(limit, (paging) =>
        client.listAssets({
          query: {
            ...paging,
            platform_id: platform,
            approval_state: approval,
            clearance_state: clearance,
            search,
          },
        }),
      ),
    none: "No such assets. A platform submits them to /api/v1/submit.",
    columns: {
      ASSET: (asset) => asset.asset_id,
      PLATFORM: (asset) => asset.platform_id,
      REFERENCES: (asset) => JSON.stringify(asset.platform_refs),
      CLEARANCE: (asset) => asset.clearance_state,
      NEWEST: (asset) => asset.newest_version?.version_label,
      APPROVAL: (asset) => asset.newest_version?.approval_state,
      PROCESSING: (asset) => asset.newest_version?.processing_state,
      CHANGED: (asset) => ago(asset.updated_at),
    },
  });
}

function describe(asset: Asset): void {
  print(
    stripControlCharacters(
      `${asset.asset_id}: ${asset.platform_id} ${JSON.stringify(asset.platform_refs)}`,
    ),
  );
  print(`clearance ${asset.clearance_state}, ${asset.exposure}`);
  const head = ["VERSION", "LABEL", "APPROVAL", "PROCESSING", "REVISION", "EXPORT", "OUTPUT"];
  const row = (version: AssetVersion) => [
    `${version.version_ordinal}${version.deleted_at === null ? "" : " (deleted)"}`,
    version.version_label,
    version.approval_state,
    version.processing_state,
    version.revision,
    version.export_state,
    version.table_name ?? version.blob_path,
  ];
  print(table(head, asset.versions.map(row)));
  for (const { version, map } of asset.services) print(`${version}: ${map}`);
}
