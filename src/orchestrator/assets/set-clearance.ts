import {
  setClearance as writeClearance,
  setExposure as writeExposure,
} from "../../adapters/postgres/repositories/assets.ts";
import type { AssetSummary, AssetVersion } from "../../core/api/asset-schemas.ts";
import { Problem } from "../../core/errors.ts";
import type { ClearanceState, Exposure } from "../../core/model/asset.ts";
import { clearanceMachine } from "../../core/model/asset.ts";
import { mayBecome } from "../../core/model/transitions.ts";
import type { AuditContext } from "../audit-context.ts";
import { changeAsset } from "./change-asset.ts";
import type { AssetDeps } from "./deps.ts";
import { startExport, withdrawExport } from "./export-version.ts";

export interface ClearanceChange {
  readonly clearance: ClearanceState;
  readonly reason?: string | undefined;
}

/** Clearance says who may see an asset. `layers/check-clearance.ts` reads it with every request. */
export function setClearance(
  deps: AssetDeps,
  assetId: string,
  { clearance, reason }: ClearanceChange,
  audit: AuditContext,
): Promise<void> {
  return changeAsset(deps, assetId, audit, async (locked) => {
    const from = locked.asset.clearance_state;
    if (locked.asset.deleted_at !== null || !mayBecome(clearanceMachine, from, clearance)) {
      const why = locked.asset.deleted_at === null ? `it is ${from} already` : "it was deleted";
      throw new Problem("TRANSITION_REFUSED", `The clearance cannot become ${clearance}: ${why}.`);
    }
    writeClearance(locked.tx, assetId, clearance, audit.actor);
    const data = { from, to: clearance, ...(reason === undefined ? {} : { reason }) };
    locked.record("clearance_changed", undefined, data);
    for (const version of locked.versions) {
      if (clearance !== "public") await withdrawExport(deps, locked, version, audit.actor);
      else if (isExposed(locked.asset, version)) {
        await startExport(deps, locked, version, audit.actor);
      }
    }
  });
}

/** Exposure says whether all approved versions are served, or the latest only. */
export function setExposure(
  deps: AssetDeps,
  assetId: string,
  exposure: Exposure,
  audit: AuditContext,
): Promise<void> {
  return changeAsset(deps, assetId, audit, ({ tx, asset, record }) => {
    if (asset.deleted_at !== null) {
      throw new Problem("TRANSITION_REFUSED", "The exposure cannot change: it was deleted.");
    }
    if (asset.exposure === exposure) return;
    writeExposure(tx, assetId, exposure);
    record("exposure_changed", undefined, { from: asset.exposure, to: exposure });
  });
}

function isExposed(asset: AssetSummary, version: AssetVersion): boolean {
  if (version.approval_state !== "approved" || version.deleted_at !== null) return false;
  if (asset.exposure === "all-versions") return true;
  return version.version_ordinal === asset.latest_approved_version_ordinal;
}
