import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { readVersions } from "../../adapters/postgres/queries/asset-rows.ts";
import { markDeleted } from "../../adapters/postgres/repositories/assets.ts";
import { deleteVersion } from "../../adapters/postgres/repositories/versions.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import { mayDelete } from "../../core/domain/version-rules.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { AuditContext } from "../audit-context.ts";
import { cancelJobIn } from "../jobs/cancel-job.ts";
import type { LockedAsset } from "./change-asset.ts";
import { changeAsset, throwRefusal, versionOf } from "./change-asset.ts";
import type { AssetDeps } from "./deps.ts";
import { withdrawExport } from "./export-version.ts";
import { startJob } from "./start-job.ts";

/**
 * Marks a version as deleted (its row stays), cancels its job, and starts a job that removes its
 * outputs.
 */
export function unpublishVersion(
  deps: AssetDeps,
  assetId: string,
  ordinal: number,
  reason: string | undefined,
  audit: AuditContext,
): Promise<void> {
  const only = (version: AssetVersion) => version.version_ordinal === ordinal;
  return changeAsset(
    deps,
    assetId,
    audit,
    async (locked) => {
      const version = versionOf(locked.versions, ordinal);
      throwRefusal(mayDelete(version));
      await remove(deps, locked, version, reason, audit);
    },
    { lockFirst: (tx) => stopJobs(tx, assetId, only, audit) },
  );
}

export function unpublishAsset(
  deps: AssetDeps,
  assetId: string,
  reason: string | undefined,
  audit: AuditContext,
): Promise<void> {
  return changeAsset(
    deps,
    assetId,
    audit,
    async (locked) => {
      if (locked.asset.deleted_at !== null) {
        throw new Problem("TRANSITION_REFUSED", "The asset was deleted before.");
      }
      for (const version of locked.versions) {
        if (version.deleted_at === null) await remove(deps, locked, version, reason, audit);
      }
      markDeleted(locked.tx, assetId, audit.actor);
      locked.record("asset_deleted", undefined, dataOf(reason));
    },
    { lockFirst: (tx) => stopJobs(tx, assetId, () => true, audit) },
  );
}

/** Cancels the running jobs of an asset, before its lock: the engine too locks jobs before assets. */
async function stopJobs(
  tx: Transaction,
  assetId: string,
  which: (version: AssetVersion) => boolean,
  audit: AuditContext,
): Promise<void> {
  const busy = (await readVersions(tx, assetId)).filter(
    (version) =>
      which(version) &&
      version.deleted_at === null &&
      (version.processing_state === "queued" || version.processing_state === "processing"),
  );
  const jobs = busy.flatMap(({ current_job_id }) => current_job_id ?? []).sort();
  for (const jobId of jobs) {
    await cancelJobIn(tx, jobId, `its version was deleted by ${audit.actor}`).catch(ignoreFinished);
  }
}

/** The job may have ended since its version was read. */
function ignoreFinished(error: unknown): void {
  if (!(error instanceof Problem) || error.code !== "JOB_FINISHED") throw error;
}

async function remove(
  deps: AssetDeps,
  locked: LockedAsset,
  version: AssetVersion,
  reason: string | undefined,
  audit: AuditContext,
): Promise<void> {
  const { version_ordinal } = version;
  deleteVersion(locked.tx, version, audit.actor);
  locked.record("version_deleted", version_ordinal, dataOf(reason));
  await withdrawExport(deps, locked, version, audit.actor);
  if (version.served_revision === null) return;
  const { asset_id } = version;
  try {
    const job_id = await startJob(deps, locked, version, {
      workflow_id: "unpublish_version",
      inputs: { asset_id, version_ordinal },
      purpose: "unpublish",
      submitted_by: audit.actor.slice(0, 64),
    });
    if (job_id !== undefined) locked.record("unpublish_started", version_ordinal, { job_id });
  } catch (error) {
    // A workflow that is missing or broken must not prevent the deletion of a version.
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    locked.record("unpublish_failed", version_ordinal, { error: error.message });
  }
}

function dataOf(reason: string | undefined): JsonObject {
  return reason === undefined ? {} : { reason };
}
