import { insertAssetJob } from "../../adapters/postgres/repositories/requests.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { JobPurpose } from "../../core/model/request.ts";
import { createJobs, prepareJob } from "../jobs/submit-jobs.ts";
import type { LockedAsset } from "./change-asset.ts";
import type { AssetDeps } from "./deps.ts";

export interface AssetJob {
  readonly workflow_id: string;
  readonly inputs: JsonObject;
  readonly purpose: JobPurpose;
  readonly submitted_by: string;
  readonly priority?: number;
}

/**
 * Creates a job for a version in the transaction that holds the lock of the asset. Undefined: there
 * already is a job with the same purpose for this revision.
 */
export async function startJob(
  deps: AssetDeps,
  { tx, traceParent }: Pick<LockedAsset, "tx" | "traceParent">,
  version: Pick<AssetVersion, "asset_id" | "version_ordinal" | "revision" | "request_id">,
  job: AssetJob,
): Promise<string | undefined> {
  const prepared = await prepareJob(deps.engine, {
    workflow_id: job.workflow_id,
    inputs: job.inputs,
    priority: job.priority,
    correlation_id: version.request_id,
    submitted_by: job.submitted_by,
    trace_parent: traceParent,
  });
  const { job_id } = prepared.job;
  const { asset_id, version_ordinal, revision, request_id } = version;
  const { purpose } = job;
  // Before the job itself: a job that ends in its first evaluation reads this row.
  const isFirst = await insertAssetJob(tx, {
    job_id,
    asset_id,
    version_ordinal,
    revision,
    request_id,
    purpose,
  });
  if (!isFirst) return undefined;
  const [answer] = await createJobs(deps.engine, tx, [prepared]);
  if (answer === undefined || answer instanceof Problem) {
    throw answer ?? new Problem("INTERNAL", "The job could not be created.");
  }
  return job_id;
}
