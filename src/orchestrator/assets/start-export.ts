import { supersedeJobs } from "../../adapters/postgres/repositories/requests.ts";
import { setExport } from "../../adapters/postgres/repositories/versions.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import type { HeldAsset } from "./change-asset.ts";
import type { DomainDeps } from "./deps.ts";
import { startJob } from "./start-job.ts";

/**
 * Copies what is public to the external zone, once for each revision: whoever comes second finds the
 * job of the first by a unique index.
 */
export async function startExport(
  deps: DomainDeps,
  held: HeldAsset,
  version: AssetVersion,
  by: string,
): Promise<void> {
  const { asset_id, version_ordinal, revision, blob_path } = version;
  // A table has no file to copy: it is served from here, also to the public.
  if (blob_path === null) return;
  supersedeJobs(held.tx, version, ["withdraw"]);
  const job_id = await startJob(deps, held, version, {
    workflow_id: "adf_export",
    inputs: { asset_id, version_ordinal, revision, blob_path },
    purpose: "export",
    submitted_by: by.slice(0, 64),
  });
  if (job_id === undefined) return;
  setExport(held.tx, version, { state: "running", job_id });
  held.record("export_started", version_ordinal, { job_id, revision });
}

/** What is no longer public must not stay in the external zone. */
export async function withdrawExport(
  deps: DomainDeps,
  held: HeldAsset,
  version: AssetVersion,
  by: string,
): Promise<void> {
  const { version_ordinal, revision, external_blob_path } = version;
  if (version.export_state !== "completed" || external_blob_path === null) return;
  supersedeJobs(held.tx, version, ["export"]);
  const job_id = await startJob(deps, held, version, {
    workflow_id: "adf_withdraw",
    inputs: { external_blob_path },
    purpose: "withdraw",
    submitted_by: by.slice(0, 64),
  });
  if (job_id !== undefined) {
    held.record("export_withdrawn", version_ordinal, { job_id, revision, state: "started" });
  }
}
