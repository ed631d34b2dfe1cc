import { setClearance as write } from "../../adapters/postgres/repositories/assets.ts";
import type { AssetSummary, AssetVersion } from "../../core/api/asset-schemas.ts";
import { Problem } from "../../core/errors.ts";
import type { ClearanceState } from "../../core/model/asset.ts";
import { clearanceMachine } from "../../core/model/asset.ts";
import { mayBecome } from "../../core/model/transitions.ts";
import { changeAsset } from "./change-asset.ts";
import type { Act, DomainDeps } from "./deps.ts";
import { startExport, withdrawExport } from "./start-export.ts";

export interface ClearanceChange {
  readonly clearance: ClearanceState;
  readonly reason?: string | undefined;
}

export function setClearance(
  deps: DomainDeps,
  assetId: string,
  { clearance, reason }: ClearanceChange,
  act: Act,
): Promise<void> {
  return changeAsset(deps, assetId, act, async (held) => {
    const from = held.asset.clearance_state;
    if (held.asset.deleted_at !== null || !mayBecome(clearanceMachine, from, clearance)) {
      const why = held.asset.deleted_at === null ? `it is ${from} already` : "it was deleted";
      throw new Problem("TRANSITION_REFUSED", `The clearance cannot become ${clearance}: ${why}.`);
    }
    write(held.tx, assetId, clearance, act.actor);
    const data = { from, to: clearance, ...(reason === undefined ? {} : { reason }) };
    held.record("clearance_changed", undefined, data);
    for (const version of held.versions) {
      if (clearance !== "public") await withdrawExport(deps, held, version, act.actor);
      else if (isExposed(held.asset, version)) await startExport(deps, held, version, act.actor);
    }
  });
}

function isExposed(asset: AssetSummary, version: AssetVersion): boolean {
  if (version.approval_state !== "approved" || version.deleted_at !== null) return false;
  if (asset.exposure === "all-versions") return true;
  return version.version_ordinal === asset.latest_approved_version_ordinal;
}
