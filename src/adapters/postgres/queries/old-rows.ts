/** Which rows are old, and which of them are still needed: what a plan counts and a run removes. */
import type { JobClass } from "../../../core/retention/classes.ts";

/** Terminal states never change, so no tick writes to the rows of such a job any more. */
export const isOld = `j.status IN ('completed', 'failed', 'cancelled')
  AND j.completed_at < now() - make_interval(secs => $1 * 86400)`;

/**
 * A job is kept while another runs it again (which replays from it), while it made or processes a
 * version that is not deleted, and while a callback about it is open. What it wrote keeps it as
 * well, unless it is archived, where lineage finds it under the same id.
 */
const isNotNeeded = (archive: boolean): string => `
  NOT EXISTS (SELECT FROM dagapp.dag_jobs r WHERE r.rerun_of = j.job_id)
  AND NOT EXISTS (SELECT FROM dagapp.asset_jobs a
    JOIN dagapp.asset_versions v USING (asset_id, version_ordinal)
    WHERE a.job_id = j.job_id AND v.deleted_at IS NULL)
  AND NOT EXISTS (SELECT FROM dagapp.callback_deliveries d
    WHERE d.job_id = j.job_id AND d.state = 'pending')
  AND NOT EXISTS (SELECT FROM dagapp.asset_jobs a
    JOIN dagapp.callback_deliveries d USING (request_id)
    WHERE a.job_id = j.job_id AND d.state = 'pending')
  AND NOT EXISTS (SELECT FROM dagapp.h3_computation_runs h WHERE h.job_id = j.job_id)
  ${
    archive
      ? ""
      : `AND NOT EXISTS (SELECT FROM dagapp.dag_blob_assets b
           WHERE b.job_id = j.job_id AND b.gone_at IS NULL)
         AND NOT EXISTS (SELECT FROM dagapp.dag_dataset_refs f
           LEFT JOIN dagapp.dag_blob_assets b ON b.path = f.target_id
           WHERE f.source_kind = 'job' AND f.source_id = j.job_id AND b.gone_at IS NULL)
         AND NOT EXISTS (SELECT FROM dagapp.geo_tables t WHERE t.job_id = j.job_id)`
  }`;

/** The replay of a job starts from the events of the job that it runs again. */
const replaysAlone = `NOT EXISTS (SELECT FROM dagapp.dag_jobs r WHERE r.rerun_of = j.job_id
  AND EXISTS (SELECT FROM dagapp.dag_job_events e WHERE e.job_id = r.job_id))`;

/** The condition that chooses among old jobs those whose rows of this class may go. */
export function mayGo(name: JobClass, archive: boolean): string {
  if (name === "jobs") return isNotNeeded(archive);
  return name === "events" ? replaysAlone : "true";
}

export interface ArchivedRow {
  readonly job_id: string;
  readonly table_name: string;
  /** Names the row within its job and table. */
  readonly row_key: string;
  /** The fan-out of a child; empty otherwise. */
  readonly parent: string;
  /** The whole row as JSON. */
  readonly row: string;
}

/** Rows with a time of their own: what they are, and when they may go. */
export const timed = {
  callbacks: {
    table: "callback_deliveries",
    key: "event_id",
    time: "coalesce(t.delivered_at, t.next_attempt_at)",
    where: "t.state <> 'pending' AND t.created_at < now() - make_interval(secs => $1 * 86400)",
  },
  requests: {
    table: "requests",
    key: "request_id",
    time: "t.completed_at",
    // A version that is not deleted names its request, and a delivery refers to it.
    where: `t.completed_at IS NOT NULL
      AND EXISTS (SELECT FROM dagapp.asset_versions v
        WHERE (v.asset_id, v.version_ordinal) = (t.asset_id, t.version_ordinal)
          AND v.deleted_at < now() - make_interval(secs => $1 * 86400))
      AND NOT EXISTS (SELECT FROM dagapp.callback_deliveries d WHERE d.request_id = t.request_id)
      AND t.submitted_at < now() - make_interval(secs => $1 * 86400)`,
  },
  dead_letters: {
    table: "dag_queue_dead",
    key: "message_id",
    time: "t.died_at",
    where: "t.handled",
  },
} as const;

export type TimedClass = keyof typeof timed;

/** The rows of a class that may go, as a FROM and WHERE over `t`; $1 are the days. */
export function oldRows(name: TimedClass): { readonly from: string; readonly time: string } {
  const { table, time, where } = timed[name];
  return {
    from: `dagapp.${table} t
      WHERE ${where} AND ${time} < now() - make_interval(secs => $1 * 86400)`,
    time,
  };
}
