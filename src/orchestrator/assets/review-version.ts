import { setClearance } from "../../adapters/postgres/repositories/assets.ts";
import {
  approveVersion as writeApproval,
  rejectVersion as writeRejection,
  moveStyleToAsset,
  withdrawApproval,
} from "../../adapters/postgres/repositories/versions.ts";
import { mayApprove, mayReject, mayWithdraw } from "../../core/domain/version-rules.ts";
import type { AuditContext } from "../audit-context.ts";
import { changeAsset, throwRefusal, versionOf } from "./change-asset.ts";
import type { AssetDeps } from "./deps.ts";
import { startExport, withdrawExport } from "./export-version.ts";

export interface Approval {
  readonly clearance: "ouo" | "public";
  readonly note?: string | undefined;
}

/** Approves a version and sets the clearance of its asset, in one transaction. */
export function approveVersion(
  deps: AssetDeps,
  assetId: string,
  ordinal: number,
  { clearance, note }: Approval,
  audit: AuditContext,
): Promise<void> {
  return changeAsset(deps, assetId, audit, async (locked) => {
    const { tx, asset, versions, record } = locked;
    const version = versionOf(versions, ordinal);
    throwRefusal(mayApprove(version));
    writeApproval(tx, version, audit.actor);
    if (version.style !== null) moveStyleToAsset(tx, version, audit.actor);
    record("version_approved", ordinal, { clearance, ...(note === undefined ? {} : { note }) });
    if (asset.clearance_state !== clearance) {
      setClearance(tx, assetId, clearance, audit.actor);
      record("clearance_changed", undefined, { from: asset.clearance_state, to: clearance });
    }
    if (clearance === "public") await startExport(deps, locked, version, audit.actor);
  });
}

export function rejectVersion(
  deps: AssetDeps,
  assetId: string,
  ordinal: number,
  reason: string,
  audit: AuditContext,
): Promise<void> {
  return changeAsset(deps, assetId, audit, ({ tx, versions, record }) => {
    const version = versionOf(versions, ordinal);
    throwRefusal(mayReject(version));
    writeRejection(tx, version, audit.actor, reason);
    record("version_rejected", ordinal, { reason });
  });
}

/** Takes an approval back, with effect at once: every request for a layer reads the approval. */
export function withdrawVersion(
  deps: AssetDeps,
  assetId: string,
  ordinal: number,
  reason: string,
  audit: AuditContext,
): Promise<void> {
  return changeAsset(deps, assetId, audit, async (locked) => {
    const version = versionOf(locked.versions, ordinal);
    throwRefusal(mayWithdraw(version));
    withdrawApproval(locked.tx, version);
    locked.record("version_withdrawn", ordinal, { reason });
    await withdrawExport(deps, locked, version, audit.actor);
  });
}
