import { withdrawApproval } from "../../adapters/postgres/repositories/versions.ts";
import { mayWithdraw } from "../../core/domain/version-rules.ts";
import { changeAsset, demand, versionOf } from "./change-asset.ts";
import type { Act, DomainDeps } from "./deps.ts";
import { withdrawExport } from "./start-export.ts";

/** Every request for a layer asks anew what is approved, so this is effective with its commit. */
export function withdrawVersion(
  deps: DomainDeps,
  assetId: string,
  ordinal: number,
  reason: string,
  act: Act,
): Promise<void> {
  return changeAsset(deps, assetId, act, async (held) => {
    const version = versionOf(held.versions, ordinal);
    demand(mayWithdraw(version));
    withdrawApproval(held.tx, version);
    held.record("version_withdrawn", ordinal, { reason });
    await withdrawExport(deps, held, version, act.actor);
  });
}
