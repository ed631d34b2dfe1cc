import { supersedeJobs } from "../../adapters/postgres/repositories/requests.ts";
import { Problem } from "../../core/errors.ts";
import { changeAsset, versionOf } from "./change-asset.ts";
import type { Act, DomainDeps } from "./deps.ts";
import { startExport } from "./start-export.ts";

/** For an export that failed: the one before makes room. */
export function exportVersion(
  deps: DomainDeps,
  assetId: string,
  ordinal: number,
  act: Act,
): Promise<void> {
  return changeAsset(deps, assetId, act, async (held) => {
    const version = versionOf(held.versions, ordinal);
    const { approval_state, deleted_at, export_state, blob_path } = version;
    const why =
      held.asset.clearance_state !== "public"
        ? "its asset is not public"
        : approval_state !== "approved" || deleted_at !== null
          ? "it is not approved"
          : blob_path === null
            ? "it has no file to copy"
            : export_state === "running"
              ? "its export is running"
              : undefined;
    if (why !== undefined) {
      throw new Problem("TRANSITION_REFUSED", `Version ${ordinal} cannot be exported: ${why}.`);
    }
    supersedeJobs(held.tx, version, ["export"]);
    await startExport(deps, held, version, act.actor);
  });
}
