import { setClearance } from "../../adapters/postgres/repositories/assets.ts";
import { approveVersion as approve } from "../../adapters/postgres/repositories/versions.ts";
import { mayApprove } from "../../core/domain/version-rules.ts";
import { changeAsset, demand, versionOf } from "./change-asset.ts";
import type { Act, DomainDeps } from "./deps.ts";
import { startExport } from "./start-export.ts";

export interface Approval {
  readonly clearance: "ouo" | "public";
  readonly note?: string | undefined;
}

/** The review of a version and the clearance of its asset are one decision and one transaction. */
export function approveVersion(
  deps: DomainDeps,
  assetId: string,
  ordinal: number,
  { clearance, note }: Approval,
  act: Act,
): Promise<void> {
  return changeAsset(deps, assetId, act, async (held) => {
    const { tx, asset, versions, record } = held;
    const version = versionOf(versions, ordinal);
    demand(mayApprove(version));
    approve(tx, version, act.actor);
    record("version_approved", ordinal, { clearance, ...(note === undefined ? {} : { note }) });
    if (asset.clearance_state !== clearance) {
      setClearance(tx, assetId, clearance, act.actor);
      record("clearance_changed", undefined, { from: asset.clearance_state, to: clearance });
    }
    if (clearance === "public") await startExport(deps, held, version, act.actor);
  });
}
