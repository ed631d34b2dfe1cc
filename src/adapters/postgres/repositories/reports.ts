/**
 * Records how tasks ended. The first result of a task id counts; a second one changes nothing. The
 * inbox names the results that the owner of the job has not settled yet.
 */
import type { TaskReport } from "../../../core/messages.ts";
import { engineChannel } from "../channels.ts";
import type { Queryable } from "../queryable.ts";
import { searchByKey } from "../search-by-key.ts";

export interface RecordReportsSql {
  /**
   * A statement over `incoming` that answers the rows to record, with their `started`: all of them,
   * or those whose message the reporter still holds.
   */
  readonly accepted: string;
  /**
   * The caller has decided what follows from the reports, so they skip the inbox, and the
   * transaction fails unless all are accepted and each is the first of its task.
   */
  readonly expected: boolean;
}

/**
 * Answers the ordinals of the accepted reports, from 1; with `expected` it answers nothing. A task
 * whose node it has completed already has its result there. OFFSET makes that a search by key, where
 * PostgreSQL could read all nodes instead.
 */
export function recordReportsSql({ accepted, expected }: RecordReportsSql): string {
  return `
WITH incoming AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
    $7::text[], $8::timestamptz[], $9::bigint[], $10::integer[]) WITH ORDINALITY
    AS t(task_id, job_id, node_id, status, output, error, worker_id, started_at, message_id,
         deliveries, ordinal)
),
accepted AS (${accepted}),
recorded AS (
  INSERT INTO dagapp.dag_task_results
    (task_id, job_id, node_id, status, output, error, worker_id, started_at)
  SELECT task_id, job_id, node_id, status::dagapp.task_status, output::jsonb, error::jsonb,
    worker_id, started
  FROM accepted WHERE NOT EXISTS (
    SELECT FROM dagapp.dag_node_states n
    WHERE n.job_id = accepted.job_id AND n.node_id = accepted.node_id
      AND n.task_id = accepted.task_id AND n.status = 'completed' OFFSET 0)
  ON CONFLICT (task_id) DO NOTHING RETURNING task_id, job_id
)${expected ? expectAll : inboxAndWake}`;
}

const expectAll = `
SELECT dagapp.expect(cardinality($1::text[]) = (SELECT count(*) FROM accepted)
  AND cardinality($1::text[]) = (SELECT count(*) FROM recorded))`;

const inboxAndWake = `,
inbox AS (
  INSERT INTO dagapp.dag_task_inbox (task_id, job_id) SELECT task_id, job_id FROM recorded
)
SELECT array_agg(ordinal::integer) AS accepted,
  CASE WHEN count(*) > 0 THEN pg_notify('${engineChannel}', '') END
FROM accepted`;

const recordAllSql = recordReportsSql({
  accepted: "SELECT incoming.*, started_at AS started FROM incoming",
  expected: false,
});

/**
 * Records reports that come without a lease in this database: from another broker, or from a worker
 * over HTTP. The engine ignores a result that is not of the node's current attempt.
 */
export async function recordReports(db: Queryable, reports: readonly TaskReport[]): Promise<void> {
  if (reports.length === 0) return;
  await db.query(recordAllSql, reportColumns(reports), "dag_record_unleased_reports");
}

/** A task that failed without a report of its worker. */
export interface FailedTask {
  readonly job_id: string;
  readonly task_id: string;
  readonly error: { readonly code: string; readonly message: string; readonly category: string };
  readonly worker_id?: string;
  readonly started_at?: string;
}

const failCurrentAttemptsSql = recordReportsSql({
  accepted: `
    SELECT n.task_id, n.job_id, n.node_id, incoming.status, incoming.output, incoming.error,
      incoming.worker_id,
      incoming.started_at AS started, ordinal
    FROM incoming JOIN dagapp.dag_node_states n
      ON ${searchByKey("n.job_id", "incoming.job_id")} AND n.task_id = incoming.task_id
    WHERE n.status IN ('dispatched', 'running')`,
  expected: false,
});

/** Records failures of tasks that are their node's current attempt, whose row names the node. */
export async function failTasks(db: Queryable, tasks: readonly FailedTask[]): Promise<number> {
  if (tasks.length === 0) return 0;
  const reports = tasks.map(({ error, worker_id = null, ...task }) => ({
    ...task,
    node_id: "",
    status: "failed" as const,
    output: null,
    error: JSON.stringify(error),
    worker_id,
  }));
  const { rows } = await db.query<{ accepted: number[] | null }>(
    failCurrentAttemptsSql,
    reportColumns(reports),
  );
  return rows[0]?.accepted?.length ?? 0;
}

interface ReportRow extends Omit<TaskReport, "worker_id"> {
  readonly worker_id: string | null;
  readonly started_at?: string | null;
}

/** The parameters of the statement; `leases` are given in the order of the reports. */
export function reportColumns(
  reports: readonly ReportRow[],
  leases?: readonly { readonly message_id: number; readonly deliveries: number }[],
): unknown[] {
  return [
    reports.map(({ task_id }) => task_id),
    reports.map(({ job_id }) => job_id),
    reports.map(({ node_id }) => node_id),
    reports.map(({ status }) => status),
    reports.map(({ output }) => output),
    reports.map(({ error }) => error),
    reports.map(({ worker_id }) => worker_id),
    reports.map(({ started_at }) => started_at ?? null),
    reports.map((_, index) => leases?.[index]?.message_id ?? null),
    reports.map((_, index) => leases?.[index]?.deliveries ?? null),
  ];
}
