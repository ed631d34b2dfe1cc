import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { readVersions } from "../../adapters/postgres/queries/asset-rows.ts";
import {
  lockAsset,
  recordAssetEvent,
  touchAsset,
} from "../../adapters/postgres/repositories/assets.ts";
import type { AssetSummary, AssetVersion } from "../../core/api/asset-schemas.ts";
import { Problem } from "../../core/errors.ts";
import type { AssetEventType } from "../../core/model/asset.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { Act, DomainDeps } from "./deps.ts";

/** An asset in the hands of one transaction. */
export interface HeldAsset {
  readonly tx: Transaction;
  readonly asset: AssetSummary;
  readonly versions: readonly AssetVersion[];
  readonly record: (type: AssetEventType, ordinal: number | undefined, data?: JsonObject) => void;
}

export interface ChangeOptions {
  /** A job that the change will stop: the engine locks jobs before assets, and so must we. */
  readonly lockFirst?: (tx: Transaction) => Promise<unknown>;
}

/** Lock, compare with what the caller saw, change, count the change: all in one transaction. */
export async function changeAsset(
  deps: DomainDeps,
  assetId: string,
  act: Act,
  change: (held: HeldAsset) => Promise<void> | void,
  options: ChangeOptions = {},
): Promise<void> {
  await deps.turns(assetId, () =>
    deps.db.transaction(async (tx) => {
      await options.lockFirst?.(tx);
      const asset = await lockAsset(tx, assetId);
      if (asset === undefined) throw assetMissing(assetId);
      refuseStale(asset.row_version, act.ifMatch);
      const versions = await readVersions(tx, assetId);
      const record: HeldAsset["record"] = (event_type, version_ordinal, event_data) => {
        const { actor, via } = act;
        const event = { asset_id: assetId, version_ordinal, event_type, actor, via, event_data };
        recordAssetEvent(tx, event);
      };
      await change({ tx, asset, versions, record });
      touchAsset(tx, assetId);
    }),
  );
}

export function refuseStale(rowVersion: number, ifMatch: number | undefined): void {
  if (ifMatch === undefined || ifMatch === rowVersion) return;
  throw new Problem(
    "EDIT_CONFLICT",
    `It was changed meanwhile: you saw "${ifMatch}", it is "${rowVersion}". Read it again.`,
  );
}

export function versionOf(versions: readonly AssetVersion[], ordinal: number): AssetVersion {
  const version = versions.find(({ version_ordinal }) => version_ordinal === ordinal);
  if (version !== undefined) return version;
  throw new Problem("VERSION_NOT_FOUND", `The asset has no version ${ordinal}.`);
}

export function assetMissing(assetId: string): Problem {
  return new Problem("ASSET_NOT_FOUND", `There is no asset "${assetId}".`);
}

export function demand(refusal: Problem | undefined): void {
  if (refusal !== undefined) throw refusal;
}
