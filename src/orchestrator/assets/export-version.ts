import { findExportsToChange } from "../../adapters/postgres/queries/assets.ts";
import { supersedeJobs } from "../../adapters/postgres/repositories/requests.ts";
import { setExport } from "../../adapters/postgres/repositories/versions.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import { Problem } from "../../core/errors.ts";
import type { AuditContext } from "../audit-context.ts";
import type { LockedAsset } from "./change-asset.ts";
import { changeAsset, versionOf } from "./change-asset.ts";
import type { AssetDeps } from "./deps.ts";
import { startJob } from "./start-job.ts";

/** Whether a version has a file, a table or items that can be exported. */
function hasData({ blob_path, table_name, stac_item_id, stac_collection_id }: AssetVersion) {
  return (blob_path ?? table_name ?? stac_item_id ?? stac_collection_id) !== null;
}

/**
 * Starts the job that copies a public version to the external zone, once for each revision: a unique
 * index refuses a second job for the same revision.
 */
export async function startExport(
  deps: AssetDeps,
  locked: LockedAsset,
  version: AssetVersion,
  by: string,
): Promise<void> {
  const { asset_id, version_ordinal, revision, blob_path } = version;
  if (!hasData(version)) return;
  supersedeJobs(locked.tx, version, ["withdraw"]);
  const job_id = await startJob(deps, locked, version, {
    workflow_id: "adf_export",
    inputs: { asset_id, version_ordinal, revision, ...(blob_path === null ? {} : { blob_path }) },
    purpose: "export",
    submitted_by: by.slice(0, 64),
  });
  if (job_id === undefined) return;
  setExport(locked.tx, version, { state: "running", job_id });
  locked.record("export_started", version_ordinal, { job_id, revision });
}

/**
 * Starts the job that removes a version from the external zone, if it was copied there. An export that
 * failed may have copied a part.
 */
export async function withdrawExport(
  deps: AssetDeps,
  locked: LockedAsset,
  version: AssetVersion,
  by: string,
): Promise<void> {
  const { asset_id, version_ordinal, revision, export_state } = version;
  if (export_state !== "completed" && export_state !== "failed") return;
  supersedeJobs(locked.tx, version, ["export"]);
  const job_id = await startJob(deps, locked, version, {
    workflow_id: "adf_withdraw",
    inputs: { asset_id, version_ordinal },
    purpose: "withdraw",
    submitted_by: by.slice(0, 64),
  });
  if (job_id !== undefined) {
    locked.record("export_withdrawn", version_ordinal, { job_id, revision, state: "started" });
  }
}

/** Exports a version on request, after an export that failed. */
export function exportVersion(
  deps: AssetDeps,
  assetId: string,
  ordinal: number,
  audit: AuditContext,
): Promise<void> {
  return changeAsset(deps, assetId, audit, async (locked) => {
    const version = versionOf(locked.versions, ordinal);
    const { approval_state, deleted_at, export_state } = version;
    const why =
      locked.asset.clearance_state !== "public"
        ? "its asset is not public"
        : approval_state !== "approved" || deleted_at !== null
          ? "it is not approved"
          : !hasData(version)
            ? "it has no data"
            : export_state === "running"
              ? "its export is running"
              : undefined;
    if (why !== undefined) {
      throw new Problem("TRANSITION_REFUSED", `Version ${ordinal} cannot be exported: ${why}.`);
    }
    supersedeJobs(locked.tx, version, ["export"]);
    await startExport(deps, locked, version, audit.actor);
  });
}

const reconciler = { actor: "orchestrator", via: "exports" };

/**
 * Brings the external zone up to date: what is public belongs there and nothing else does. Verbs do
 * so at once; this finds the rest, such as a public version that was reprocessed, or an export that
 * ended after its version had been withdrawn.
 */
export async function reconcileExports(deps: AssetDeps): Promise<number> {
  const found = await findExportsToChange(deps.db, 100);
  for (const { asset_id, version_ordinal } of found) {
    await changeAsset(deps, asset_id, reconciler, async (locked) => {
      const version = locked.versions.find((each) => each.version_ordinal === version_ordinal);
      if (version === undefined) return;
      const isPublic =
        locked.asset.clearance_state === "public" &&
        version.approval_state === "approved" &&
        version.deleted_at === null;
      if (isPublic) await startExport(deps, locked, version, reconciler.actor);
      else await withdrawExport(deps, locked, version, reconciler.actor);
    });
  }
  return found.length;
}
