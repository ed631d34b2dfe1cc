import { findExportsToChange } from "../../adapters/postgres/queries/assets.ts";
import { changeAsset } from "./change-asset.ts";
import type { DomainDeps } from "./deps.ts";
import { startExport, withdrawExport } from "./start-export.ts";

const act = { actor: "orchestrator", via: "exports" };

/**
 * What is public belongs in the external zone and nothing else does. Verbs see to it at once; this
 * finds what happened between them: a public version that was reprocessed, or an export that ended
 * after its version had been withdrawn.
 */
export async function startExports(deps: DomainDeps): Promise<number> {
  const found = await findExportsToChange(deps.db, 100);
  for (const { asset_id, version_ordinal } of found) {
    await changeAsset(deps, asset_id, act, async (held) => {
      const version = held.versions.find((each) => each.version_ordinal === version_ordinal);
      if (version === undefined) return;
      const isPublic =
        held.asset.clearance_state === "public" &&
        version.approval_state === "approved" &&
        version.deleted_at === null;
      if (isPublic) await startExport(deps, held, version, act.actor);
      else await withdrawExport(deps, held, version, act.actor);
    });
  }
  return found.length;
}
