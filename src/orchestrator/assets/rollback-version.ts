import { readRevisions } from "../../adapters/postgres/queries/asset-rows.ts";
import { restoreRevision } from "../../adapters/postgres/repositories/versions.ts";
import { mayReprocess } from "../../core/domain/version-rules.ts";
import { Problem } from "../../core/errors.ts";
import { changeAsset, demand, versionOf } from "./change-asset.ts";
import type { Act, DomainDeps } from "./deps.ts";

/** History only grows: an old revision that is served again is the newest revision. */
export function rollbackVersion(
  deps: DomainDeps,
  assetId: string,
  ordinal: number,
  toRevision: number,
  act: Act,
): Promise<void> {
  return changeAsset(deps, assetId, act, async ({ tx, versions, record }) => {
    const version = versionOf(versions, ordinal);
    demand(mayReprocess(version));
    const revisions = await readRevisions(tx, assetId, ordinal);
    const target = revisions.find(({ revision }) => revision === toRevision);
    if (target === undefined) {
      throw new Problem("REVISION_NOT_FOUND", `Version ${ordinal} has no revision ${toRevision}.`);
    }
    if (target.processing_state !== "completed") {
      const why = `revision ${toRevision} is ${target.processing_state} and has no outputs`;
      throw new Problem("TRANSITION_REFUSED", `Version ${ordinal} cannot go back: ${why}.`);
    }
    const next = version.revision + 1;
    restoreRevision(tx, version, toRevision, next, act.actor);
    record("version_restored", ordinal, { from_revision: toRevision, revision: next });
  });
}
