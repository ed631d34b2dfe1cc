import type { JsonObject } from "../../../core/model/json.ts";
import { callbacksChannel } from "../channels.ts";
import type { Transaction } from "../queryable.ts";
import type { AssetJob } from "./requests.ts";

/** A job of an asset version, with the columns that recording its end needs. */
export interface EndedAssetJob extends AssetJob {
  readonly platform_id: string;
  readonly version_label: string;
  /** The version's revision now: the job of an older revision does not change the version. */
  readonly current_revision: number;
  readonly current_job_id: string | null;
  /** The job that ends is of the version's current revision, which has items or had some before. */
  readonly has_items: boolean;
  /** The version is approved, and what was approved has this content. */
  readonly approved_content: string | null;
  readonly is_approved: boolean;
  readonly callback_url: string | null;
  /** Further addresses of the platform. */
  readonly addresses: readonly {
    readonly name: string;
    readonly url: string;
    readonly event_types: readonly string[];
  }[];
}

/** Reads the asset versions that these jobs worked for. Jobs without a request have none. */
export async function findAssetJobs(
  tx: Transaction,
  jobIds: readonly string[],
): Promise<readonly EndedAssetJob[]> {
  const { rows } = await tx.query<EndedAssetJob>(
    `SELECT j.job_id, j.asset_id, j.version_ordinal, j.revision, j.request_id, j.purpose,
       r.platform_id, v.version_label, v.revision AS current_revision, v.current_job_id,
       j.purpose = 'process' AND j.revision = v.revision AND v.deleted_at IS NULL AND (
         EXISTS (SELECT FROM dagapp.stac_revision_items i WHERE i.asset_id = j.asset_id
           AND i.version_ordinal = j.version_ordinal AND i.revision = j.revision)
         OR EXISTS (SELECT FROM dagapp.stac_items i WHERE i.asset_id = j.asset_id
           AND i.version_ordinal = j.version_ordinal)) AS has_items,
       v.approval_state = 'approved' AS is_approved, v.content_hash AS approved_content,
       coalesce(r.callback_url, p.callback_url) AS callback_url,
       coalesce((SELECT jsonb_agg(jsonb_build_object('name', c.name, 'url', c.url,
           'event_types', c.event_types) ORDER BY c.name)
         FROM dagapp.platform_callbacks c
         WHERE c.platform_id = r.platform_id AND c.is_active), '[]') AS addresses
     FROM dagapp.asset_jobs j
     JOIN dagapp.asset_versions v USING (asset_id, version_ordinal)
     JOIN dagapp.requests r ON r.request_id = j.request_id
     JOIN dagapp.platforms p ON p.platform_id = r.platform_id
     WHERE j.job_id = ANY ($1) ORDER BY j.job_id`,
    [jobIds],
    "find_asset_links",
  );
  return rows;
}

/** Marks requests and versions of these jobs as running, after the first report of each job. */
export function startProcessing(tx: Transaction, jobIds: readonly string[], via: string): void {
  tx.send(
    `WITH job AS MATERIALIZED (
       SELECT job_id, asset_id, version_ordinal, request_id FROM dagapp.asset_jobs
       WHERE job_id = ANY ($1) AND purpose = 'process'),
     request AS (
       UPDATE dagapp.requests r SET status = 'running' FROM job
       WHERE r.request_id = job.request_id AND r.job_id = job.job_id AND r.status = 'pending'),
     version AS (
       UPDATE dagapp.asset_versions v SET processing_state = 'processing', updated_at = now()
       FROM job
       WHERE v.asset_id = job.asset_id AND v.version_ordinal = job.version_ordinal
         AND v.current_job_id = job.job_id AND v.processing_state = 'queued'
         AND v.deleted_at IS NULL
       RETURNING v.asset_id, v.version_ordinal)
     INSERT INTO dagapp.asset_events (asset_id, version_ordinal, event_type, actor, via)
     SELECT asset_id, version_ordinal, 'processing_started', 'orchestrator', $2 FROM version`,
    [jobIds, via],
    "start_processing",
  );
}

/**
 * Replaces a job by its rerun if the job was the newest of its purpose: request, revision and version
 * then wait for the rerun.
 */
export function replaceByRerun(tx: Transaction, from: string, to: string): void {
  tx.send(
    `WITH old AS (
       UPDATE dagapp.asset_jobs j SET superseded = true
       FROM dagapp.asset_versions v
       WHERE j.job_id = $1 AND NOT j.superseded AND v.asset_id = j.asset_id
         AND v.version_ordinal = j.version_ordinal AND v.revision = j.revision
         AND v.deleted_at IS NULL
       RETURNING j.asset_id, j.version_ordinal, j.revision, j.request_id, j.purpose)
     INSERT INTO dagapp.asset_jobs
       (job_id, asset_id, version_ordinal, revision, request_id, purpose)
     SELECT $2, asset_id, version_ordinal, revision, request_id, purpose FROM old`,
    [from, to],
  );
  tx.send(
    `WITH job AS MATERIALIZED (SELECT * FROM dagapp.asset_jobs WHERE job_id = $1),
     request AS (
       UPDATE dagapp.requests r SET job_id = $1, status = 'pending', result = NULL, error = NULL,
         completed_at = NULL
       FROM job WHERE r.request_id = job.request_id AND job.purpose = 'process'),
     revision AS (
       UPDATE dagapp.asset_revisions r SET job_id = $1, processing_state = 'queued',
         processing_error = NULL, completed_at = NULL
       FROM job WHERE r.asset_id = job.asset_id AND r.version_ordinal = job.version_ordinal
         AND r.revision = job.revision AND job.purpose = 'process')
     UPDATE dagapp.asset_versions v SET
       current_job_id = CASE job.purpose WHEN 'process' THEN $1 ELSE current_job_id END,
       processing_state = CASE job.purpose WHEN 'process' THEN 'queued' ELSE processing_state END,
       processing_error = CASE job.purpose WHEN 'process' THEN NULL ELSE processing_error END,
       export_job_id = CASE job.purpose WHEN 'export' THEN $1 ELSE export_job_id END,
       export_state = CASE job.purpose WHEN 'export' THEN 'running' ELSE export_state END,
       updated_at = now()
     FROM job WHERE v.asset_id = job.asset_id AND v.version_ordinal = job.version_ordinal`,
    [to],
  );
}

export interface NewDelivery {
  readonly event_id: string;
  readonly of:
    | {
        readonly platform_id: string;
        readonly request_id: string;
        readonly callback_name?: string;
      }
    | { readonly job_id: string };
  readonly event_type: string;
  readonly url: string;
  readonly host: string;
  readonly body: JsonObject;
  readonly trace_parent: string | null;
}

/** Queues a callback in the transaction of its event; the commit wakes the service that sends it. */
export function insertDelivery(tx: Transaction, delivery: NewDelivery): void {
  tx.send(
    `WITH woken AS (SELECT pg_notify('${callbacksChannel}', ''))
     INSERT INTO dagapp.callback_deliveries
       (event_id, platform_id, request_id, job_id, event_type, url, host, body, callback_name,
        trace_parent)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM woken`,
    [
      delivery.event_id,
      ...("job_id" in delivery.of
        ? [null, null, delivery.of.job_id]
        : [delivery.of.platform_id, delivery.of.request_id, null]),
      delivery.event_type,
      delivery.url,
      delivery.host,
      JSON.stringify(delivery.body),
      "callback_name" in delivery.of ? delivery.of.callback_name : null,
      delivery.trace_parent,
    ],
  );
}
