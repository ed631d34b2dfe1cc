/**
 * Results of attempts. On the queue in the database, recording a result and acknowledging its
 * message is one statement: neither can happen without the other.
 */
import type { LeaseToken, Settled } from "../../broker/broker.ts";
import type { Queryable, Transaction } from "../queryable.ts";

export interface TaskResultRow {
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  readonly status: "completed" | "failed";
  /** JSON texts, one of them null: they are checked and written out before they get here. */
  readonly output: string | null;
  readonly error: string | null;
  readonly worker_id: string;
}

export interface LeasedResultRow extends TaskResultRow {
  readonly lease: LeaseToken;
}

/** Behind an insert of results that is named `recorded`: their owners are to look at them. */
export const toInbox = `
told AS (
  INSERT INTO dagapp.dag_task_inbox (task_id, job_id) SELECT task_id, job_id FROM recorded
)`;

/** `started_at` is the lease's own time: the database's clock, and no clock of the worker's. */
const recordText = (inbox: string, answer: string) => `
WITH incoming AS (
  SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::text[],
    $7::text[], $8::text[], $9::text[])
    AS t(message_id, deliveries, task_id, job_id, node_id, status, output, error, worker_id)
),
gone AS (
  DELETE FROM dagapp.dag_queue_leases AS lease USING incoming
  WHERE lease.message_id = incoming.message_id AND lease.deliveries = incoming.deliveries
  RETURNING incoming.*, lease.leased_at
),
recorded AS (
  INSERT INTO dagapp.dag_task_results
    (task_id, job_id, node_id, status, output, error, worker_id, started_at)
  SELECT task_id, job_id, node_id, status::dagapp.task_status, output::jsonb, error::jsonb,
    worker_id, leased_at
  FROM gone ON CONFLICT (task_id) DO NOTHING RETURNING task_id, job_id
)${inbox}
${answer}`;
const accepted = "SELECT array_agg(message_id::float8) AS accepted";
const recordReportsText = recordText(
  `,${toInbox}`,
  `${accepted}, CASE WHEN count(*) > 0 THEN pg_notify('dag_wake', '') END FROM gone`,
);
const recordToldText = recordText(`,${toInbox}`, `${accepted} FROM gone`);
const recordExpectedText = recordText(
  "",
  `SELECT dagapp.insist(cardinality($1::bigint[]) = (SELECT count(*) FROM gone)
    AND cardinality($1::bigint[]) = (SELECT count(*) FROM recorded))`,
);

/**
 * Answers for each result, in the order given: `lost` when its lease was no longer held, and then
 * nothing was recorded. Give it connections that commit asynchronously.
 */
export function recordReports(
  db: Queryable,
  reports: readonly LeasedResultRow[],
): Promise<Settled[]> {
  return record(db, reports, recordReportsText, "dag_record_reports");
}

/** The same by an orchestrator, which was told and looks at once: nobody has to be woken. */
export function recordTold(
  tx: Transaction,
  reports: readonly LeasedResultRow[],
): Promise<Settled[]> {
  return record(tx, reports, recordToldText, "dag_record_told");
}

/**
 * The same by an orchestrator that has decided already what follows from them: every lease is held
 * and every result is the first of its attempt, or the transaction fails.
 */
export function recordExpected(tx: Transaction, reports: readonly LeasedResultRow[]): void {
  tx.send(recordExpectedText, leasedColumns(inOrder(reports)), "dag_record_expected");
}

/** By their messages, so that two statements on the same leases cannot deadlock. */
function inOrder(reports: readonly LeasedResultRow[]): readonly LeasedResultRow[] {
  return [...reports].sort((a, b) => a.lease.message_id - b.lease.message_id);
}

async function record(
  db: Queryable,
  reports: readonly LeasedResultRow[],
  text: string,
  name: string,
): Promise<Settled[]> {
  if (reports.length === 0) return [];
  const { rows } = await db.query<{ accepted: number[] | null }>(
    text,
    leasedColumns(inOrder(reports)),
    name,
  );
  const accepted = new Set(rows[0]?.accepted ?? []);
  return reports.map(({ lease }) => (accepted.has(lease.message_id) ? "ok" : "lost"));
}

/**
 * For results that come without a lease of ours: another broker, or a worker over HTTP. The engine
 * ignores what is not the node's current attempt; answers the ids that were new.
 */
export async function recordResults(
  db: Queryable,
  results: readonly TaskResultRow[],
): Promise<readonly string[]> {
  if (results.length === 0) return [];
  const { rows } = await db.query<{ task_id: string }>(
    `WITH recorded AS (
       INSERT INTO dagapp.dag_task_results AS known
         (task_id, job_id, node_id, status, output, error, worker_id)
       SELECT task_id, job_id, node_id, status::dagapp.task_status, output::jsonb, error::jsonb,
         worker_id
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
         $7::text[]) AS t(task_id, job_id, node_id, status, output, error, worker_id)
       ON CONFLICT (task_id) DO NOTHING RETURNING task_id, job_id
     ),
     ${toInbox},
     woken AS MATERIALIZED (SELECT pg_notify('dag_wake', '') FROM (SELECT 1 FROM recorded LIMIT 1) AS one)
     SELECT task_id, (SELECT count(*) FROM woken) FROM recorded`,
    columns(results),
  );
  return rows.map(({ task_id }) => task_id);
}

function leasedColumns(ordered: readonly LeasedResultRow[]): unknown[] {
  return [
    ordered.map(({ lease }) => lease.message_id),
    ordered.map(({ lease }) => lease.deliveries),
    ...columns(ordered),
  ];
}

function columns(results: readonly TaskResultRow[]): unknown[] {
  return [
    results.map(({ task_id }) => task_id),
    results.map(({ job_id }) => job_id),
    results.map(({ node_id }) => node_id),
    results.map(({ status }) => status),
    results.map(({ output }) => output),
    results.map(({ error }) => error),
    results.map(({ worker_id }) => worker_id),
  ];
}
