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
import type { AuditContext } from "../audit-context.ts";
import { refuseStale } from "../audit-context.ts";
import type { AssetDeps } from "./deps.ts";

/** An asset whose row this transaction has locked. */
export interface LockedAsset {
  readonly tx: Transaction;
  readonly asset: AssetSummary;
  readonly versions: readonly AssetVersion[];
  /** Of the request that changes the asset, for the jobs that it starts. */
  readonly traceParent: string | undefined;
  readonly record: (type: AssetEventType, ordinal: number | undefined, data?: JsonObject) => void;
}

export interface ChangeOptions {
  /** Locks jobs that the change stops. The engine locks jobs before assets, and so must a verb. */
  readonly lockFirst?: (tx: Transaction) => Promise<unknown>;
}

/**
 * Changes an asset in one transaction: locks its row, compares it with the state that the caller had
 * read, runs `change`, and counts the row version up.
 */
export async function changeAsset(
  deps: AssetDeps,
  assetId: string,
  audit: AuditContext,
  change: (locked: LockedAsset) => Promise<void> | void,
  options: ChangeOptions = {},
): Promise<void> {
  await deps.mutex(assetId, () =>
    deps.db.transaction(async (tx) => {
      await options.lockFirst?.(tx);
      const asset = await lockAsset(tx, assetId);
      if (asset === undefined) throw assetMissing(assetId);
      refuseStale(asset.row_version, audit.ifMatch);
      const versions = await readVersions(tx, assetId);
      const record: LockedAsset["record"] = (event_type, version_ordinal, event_data) => {
        const { actor, via } = audit;
        const event = { asset_id: assetId, version_ordinal, event_type, actor, via, event_data };
        recordAssetEvent(tx, event);
      };
      await change({ tx, asset, versions, traceParent: audit.traceParent, record });
      touchAsset(tx, assetId);
    }),
  );
  deps.onChanged?.();
}

export function versionOf(versions: readonly AssetVersion[], ordinal: number): AssetVersion {
  const version = versions.find(({ version_ordinal }) => version_ordinal === ordinal);
  if (version !== undefined) return version;
  throw new Problem("VERSION_NOT_FOUND", `The asset has no version ${ordinal}.`);
}

export function assetMissing(assetId: string): Problem {
  return new Problem("ASSET_NOT_FOUND", `There is no asset "${assetId}".`);
}

export function throwRefusal(refusal: Problem | undefined): void {
  if (refusal !== undefined) throw refusal;
}
