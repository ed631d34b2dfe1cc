import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { readVersions } from "../../adapters/postgres/queries/asset-rows.ts";
import { markDeleted } from "../../adapters/postgres/repositories/assets.ts";
import { deleteVersion } from "../../adapters/postgres/repositories/versions.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import { mayDelete } from "../../core/domain/version-rules.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { cancelJobIn } from "../jobs/cancel-pause-resume.ts";
import type { HeldAsset } from "./change-asset.ts";
import { changeAsset, demand, versionOf } from "./change-asset.ts";
import type { Act, DomainDeps } from "./deps.ts";
import { withdrawExport } from "./start-export.ts";
import { startJob } from "./start-job.ts";

/** The row stays for ever; what is being made is stopped, and a job removes what was made. */
export function unpublishVersion(
  deps: DomainDeps,
  assetId: string,
  ordinal: number,
  reason: string | undefined,
  act: Act,
): Promise<void> {
  const only = (version: AssetVersion) => version.version_ordinal === ordinal;
  return changeAsset(
    deps,
    assetId,
    act,
    async (held) => {
      const version = versionOf(held.versions, ordinal);
      demand(mayDelete(version));
      await remove(deps, held, version, reason, act);
    },
    { lockFirst: (tx) => stopJobs(tx, assetId, only, act) },
  );
}

export function unpublishAsset(
  deps: DomainDeps,
  assetId: string,
  reason: string | undefined,
  act: Act,
): Promise<void> {
  return changeAsset(
    deps,
    assetId,
    act,
    async (held) => {
      if (held.asset.deleted_at !== null) {
        throw new Problem("TRANSITION_REFUSED", "The asset was deleted before.");
      }
      for (const version of held.versions) {
        if (version.deleted_at === null) await remove(deps, held, version, reason, act);
      }
      markDeleted(held.tx, assetId, act.actor);
      held.record("asset_deleted", undefined, dataOf(reason));
    },
    { lockFirst: (tx) => stopJobs(tx, assetId, () => true, act) },
  );
}

/** Before the asset is locked: the engine takes the two locks in this order too. */
async function stopJobs(
  tx: Transaction,
  assetId: string,
  which: (version: AssetVersion) => boolean,
  act: Act,
): Promise<void> {
  const busy = (await readVersions(tx, assetId)).filter(
    (version) =>
      which(version) &&
      version.deleted_at === null &&
      (version.processing_state === "queued" || version.processing_state === "processing"),
  );
  const jobs = busy.flatMap(({ current_job_id }) => current_job_id ?? []).sort();
  for (const jobId of jobs) {
    await cancelJobIn(tx, jobId, `its version was deleted by ${act.actor}`).catch(ignoreFinished);
  }
}

/** It ended in this very moment. */
function ignoreFinished(error: unknown): void {
  if (!(error instanceof Problem) || error.code !== "JOB_FINISHED") throw error;
}

async function remove(
  deps: DomainDeps,
  held: HeldAsset,
  version: AssetVersion,
  reason: string | undefined,
  act: Act,
): Promise<void> {
  const { version_ordinal } = version;
  deleteVersion(held.tx, version, act.actor);
  held.record("version_deleted", version_ordinal, dataOf(reason));
  await withdrawExport(deps, held, version, act.actor);
  const cascade = cascadeOf(version);
  if (cascade === undefined) return;
  try {
    const job_id = await startJob(deps, held, version, {
      ...cascade,
      purpose: "unpublish",
      submitted_by: act.actor.slice(0, 64),
    });
    if (job_id !== undefined) held.record("unpublish_started", version_ordinal, { job_id });
  } catch (error) {
    // A workflow that is missing or broken must not keep anybody from taking data off the map.
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    held.record("unpublish_failed", version_ordinal, { error: error.message });
  }
}

/** Which workflow removes what a version made; undefined: nothing of it is catalogued. */
function cascadeOf(
  version: AssetVersion,
): { readonly workflow_id: string; readonly inputs: JsonObject } | undefined {
  const { stac_collection_id, stac_item_id, table_name } = version;
  if (stac_collection_id === null || stac_item_id === null) return undefined;
  return {
    workflow_id: table_name === null ? "unpublish_raster" : "unpublish_vector",
    inputs: { collection_id: stac_collection_id, item_id: stac_item_id },
  };
}

function dataOf(reason: string | undefined): JsonObject {
  return reason === undefined ? {} : { reason };
}
