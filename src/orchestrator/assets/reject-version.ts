import { rejectVersion as reject } from "../../adapters/postgres/repositories/versions.ts";
import { mayReject } from "../../core/domain/version-rules.ts";
import { changeAsset, demand, versionOf } from "./change-asset.ts";
import type { Act, DomainDeps } from "./deps.ts";

export function rejectVersion(
  deps: DomainDeps,
  assetId: string,
  ordinal: number,
  reason: string,
  act: Act,
): Promise<void> {
  return changeAsset(deps, assetId, act, ({ tx, versions, record }) => {
    const version = versionOf(versions, ordinal);
    demand(mayReject(version));
    reject(tx, version, act.actor, reason);
    record("version_rejected", ordinal, { reason });
  });
}
