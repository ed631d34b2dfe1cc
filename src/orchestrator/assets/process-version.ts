import { insertAssetJob, insertRequest } from "../../adapters/postgres/repositories/requests.ts";
import type { Accepted } from "../../core/api/requests.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { Platform } from "../../core/model/platform.ts";
import type { RequestKind } from "../../core/model/request.ts";
import type { AuditContext } from "../audit-context.ts";
import { createJobs, prepareJob } from "../jobs/submit-jobs.ts";
import type { LockedAsset } from "./change-asset.ts";
import type { AssetDeps } from "./deps.ts";
import { versionInputs } from "./version-inputs.ts";

export interface Processing {
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly revision: number;
  readonly request_id: string;
  readonly job_id: string;
  readonly label: string;
  readonly kind: RequestKind;
  readonly workflow_id: string;
  readonly inputs: JsonObject;
  readonly identity: JsonObject;
  readonly body_hash: string;
  readonly audit: AuditContext;
  readonly options: {
    readonly submitted_by?: string | undefined;
    readonly idempotency_key?: string | undefined;
    readonly callback_url?: string | undefined;
    readonly priority: number;
  };
}

/** Creates the request and the job of a revision, in the transaction that created the revision. */
export async function processVersion(
  deps: AssetDeps,
  { tx }: Pick<LockedAsset, "tx">,
  { platform_id }: Platform,
  work: Processing,
): Promise<Accepted> {
  const { asset_id, version_ordinal, revision, request_id, job_id, label, workflow_id } = work;
  const { options, audit, inputs, kind, body_hash } = work;
  const submitted_by = options.submitted_by ?? audit.actor;
  const key = { asset_id, version_ordinal, revision };
  const { definition } = await deps.engine.workflows.current(workflow_id);
  const reserved = versionInputs(definition, {
    ...key,
    request_id,
    platform_id,
    version_label: label,
    platform_refs: work.identity,
  });
  const prepared = await prepareJob(deps.engine, {
    workflow_id,
    inputs: { ...inputs, ...reserved },
    priority: options.priority,
    correlation_id: request_id,
    submitted_by: submitted_by.slice(0, 64),
    trace_parent: audit.traceParent,
  });
  const job = { ...prepared.job, job_id };
  // Sent in one round trip. If one fails, the others reject too, and the first error is the reason.
  const [submitted_at, , answers] = await Promise.all([
    insertRequest(tx, {
      ...key,
      request_id,
      platform_id,
      kind,
      workflow_id,
      inputs,
      body_hash,
      submitted_by,
      idempotency_key: options.idempotency_key ?? null,
      callback_url: options.callback_url ?? null,
      priority: options.priority,
      job_id,
    }),
    insertAssetJob(tx, { ...key, job_id, request_id, purpose: "process" }),
    createJobs(deps.engine, tx, [{ ...prepared, job }]),
  ]);
  const [answer] = answers;
  if (answer === undefined || answer instanceof Problem) {
    throw answer ?? new Problem("INTERNAL", "The job could not be created.");
  }
  return {
    ...key,
    request_id,
    platform_id,
    version_label: label,
    workflow_id,
    job_id,
    // Even if the job ended in its first evaluation: then the next read of the request says so.
    status: "pending",
    submitted_at,
    created: true,
  };
}
