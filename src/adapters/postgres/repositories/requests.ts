import type { JsonObject } from "../../../core/model/json.ts";
import type { JobPurpose, RequestKind, RequestStatus } from "../../../core/model/request.ts";
import { isoRow } from "../queries/rows.ts";
import type { Queryable, Transaction } from "../queryable.ts";
import type { VersionKey } from "./versions.ts";

export interface NewRequest extends VersionKey {
  readonly request_id: string;
  readonly platform_id: string;
  readonly kind: RequestKind;
  readonly workflow_id: string;
  readonly revision: number;
  readonly inputs: JsonObject;
  readonly body_hash: string;
  readonly submitted_by: string;
  readonly idempotency_key: string | null;
  readonly callback_url: string | null;
  readonly priority: number;
  readonly job_id: string;
}

/** Answers the time of submission. */
export async function insertRequest(tx: Transaction, request: NewRequest): Promise<string> {
  const { rows } = await tx.query<{ submitted_at: Date }>(
    `INSERT INTO dagapp.requests (request_id, platform_id, kind, workflow_id, asset_id,
       version_ordinal, revision, inputs, body_hash, submitted_by, idempotency_key, callback_url,
       priority, job_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     RETURNING submitted_at`,
    [
      request.request_id,
      request.platform_id,
      request.kind,
      request.workflow_id,
      request.asset_id,
      request.version_ordinal,
      request.revision,
      JSON.stringify(request.inputs),
      request.body_hash,
      request.submitted_by,
      request.idempotency_key,
      request.callback_url,
      request.priority,
      request.job_id,
    ],
    "insert_request",
  );
  return rows[0]?.submitted_at.toISOString() ?? "";
}

export interface EarlierRequest extends VersionKey {
  readonly request_id: string;
  readonly platform_id: string;
  readonly version_label: string;
  readonly revision: number;
  readonly workflow_id: string;
  readonly body_hash: string;
  readonly job_id: string;
  readonly status: RequestStatus;
  readonly submitted_at: string;
}

/** Finds the request that used this id, or this idempotency key of the platform, before. */
export async function findEarlierRequest(
  db: Queryable,
  platformId: string,
  requestId: string | undefined,
  key: string | undefined,
): Promise<EarlierRequest | undefined> {
  if (requestId === undefined && key === undefined) return undefined;
  const { rows } = await db.query(
    `SELECT r.request_id, r.platform_id, asset_id, version_ordinal, version_label, r.revision,
       r.workflow_id, body_hash, job_id, status, submitted_at
     FROM dagapp.requests r JOIN dagapp.asset_versions v USING (asset_id, version_ordinal)
     WHERE r.request_id = ANY (ARRAY(
       SELECT request_id FROM dagapp.requests WHERE request_id = $1
       UNION SELECT request_id FROM dagapp.requests
         WHERE platform_id = $2 AND idempotency_key = $3))
     LIMIT 1`,
    [requestId ?? null, platformId, key ?? null],
    "find_earlier_request",
  );
  return rows[0] && isoRow<EarlierRequest>(rows[0]);
}

export interface AssetJob extends VersionKey {
  readonly job_id: string;
  readonly revision: number;
  readonly request_id: string;
  readonly purpose: JobPurpose;
}

/** Answers false when a job for the same revision and purpose exists already. */
export async function insertAssetJob(tx: Transaction, job: AssetJob): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO dagapp.asset_jobs
       (job_id, asset_id, version_ordinal, revision, request_id, purpose)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
    [job.job_id, job.asset_id, job.version_ordinal, job.revision, job.request_id, job.purpose],
    "insert_asset_job",
  );
  return rowCount === 1;
}

/** Marks jobs as superseded, so that a new job of the same purpose can be inserted. */
export function supersedeJobs(
  tx: Transaction,
  key: VersionKey,
  purposes: readonly JobPurpose[],
): void {
  tx.send(
    `UPDATE dagapp.asset_jobs SET superseded = true
     WHERE asset_id = $1 AND version_ordinal = $2 AND purpose::text = ANY ($3)
       AND NOT superseded`,
    [key.asset_id, key.version_ordinal, purposes],
  );
}

export function endRequest(
  tx: Transaction,
  requestId: string,
  jobId: string,
  end: {
    readonly status: "completed" | "failed" | "cancelled";
    readonly result: JsonObject | null;
    readonly error: JsonObject | null;
  },
): void {
  const { status, result, error } = end;
  tx.send(
    `UPDATE dagapp.requests SET status = $3, result = $4, error = $5, completed_at = now()
     WHERE request_id = $1 AND job_id = $2`,
    [
      requestId,
      jobId,
      status,
      result === null ? null : JSON.stringify(result),
      error && JSON.stringify(error),
    ],
    "end_request",
  );
}
