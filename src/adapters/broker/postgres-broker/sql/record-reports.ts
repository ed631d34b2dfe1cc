import type { TaskReport } from "../../../../core/messages.ts";
import type { Queryable, Transaction } from "../../../postgres/queryable.ts";
import { recordReportsSql, reportColumns } from "../../../postgres/repositories/reports.ts";
import type { Settled } from "../../broker.ts";
import type { LeaseToken } from "./message-columns.ts";
import { rowStatement } from "../../../postgres/row-statement.ts";
import { searchByKey } from "../../../postgres/search-by-key.ts";

/** A report whose message is leased in this database. */
export interface LeasedReport extends TaskReport {
  readonly lease: LeaseToken;
}

/**
 * Accepts the reports whose lease is held, and deletes these leases: one statement records a report and
 * completes its message. `started` is when the message was leased, by the database's clock.
 */
const acceptHeldSql = `
  DELETE FROM dagapp.dag_queue_leases AS lease USING incoming
  WHERE ${searchByKey("lease.message_id", "incoming.message_id")} AND lease.deliveries = incoming.deliveries
  RETURNING incoming.*, lease.leased_at AS started`;
/** The same for reports that come through another process: the lease must be the reporter's. */
const recordRemoteSql = recordReportsSql({
  accepted: acceptHeldSql.replace("RETURNING", "AND lease.holder = incoming.worker_id RETURNING"),
  expected: false,
});
const recordHeldSql = recordReportsSql({ accepted: acceptHeldSql, expected: false });
const recordFailuresSql = recordReportsSql({
  accepted: "SELECT incoming.*, started_at AS started FROM incoming",
  expected: true,
});
const completeHeld = rowStatement<LeaseToken>(
  "dag_complete_reported",
  {
    message_id: ["bigint", (lease) => lease.message_id],
    deliveries: ["int", (lease) => lease.deliveries],
  },
  (rows, other) => `
WITH completed AS (
  DELETE FROM dagapp.dag_queue_leases AS lease USING ${rows("held")}
  WHERE ${searchByKey("lease.message_id", "held.message_id")} AND lease.deliveries = held.deliveries
  RETURNING 1)
SELECT dagapp.expect((SELECT count(*) FROM completed) = ${other(0)})`,
);

/**
 * Records reports and answers for each, in the order given: `lost` when its lease was no longer held,
 * and then nothing was recorded. `db` should commit asynchronously.
 */
export async function recordReports(
  db: Queryable,
  reports: readonly LeasedReport[],
): Promise<Settled[]> {
  return record(db, reports, recordHeldSql, "dag_record_reports");
}

/** As `recordReports`, and `lost` also when another worker than `worker_id` holds the lease. */
export async function recordRemoteReports(
  db: Queryable,
  reports: readonly LeasedReport[],
): Promise<Settled[]> {
  return record(db, reports, recordRemoteSql, "dag_record_remote_reports");
}

async function record(
  db: Queryable,
  reports: readonly LeasedReport[],
  text: string,
  name: string,
): Promise<Settled[]> {
  if (reports.length === 0) return [];
  const ordered = byMessage(reports);
  const { rows } = await db.query<{ accepted: number[] | null }>(text, columns(ordered), name);
  const recorded = new Set(rows[0]?.accepted?.map((ordinal) => ordered[ordinal - 1]));
  return reports.map((report) => (recorded.has(report) ? "ok" : "lost"));
}

/** Answers `ok` for each report whose task has a result of the same worker, in the order given. */
export async function findRecorded(
  db: Queryable,
  reports: readonly LeasedReport[],
): Promise<Settled[]> {
  const { rows } = await db.query<{ task_id: string; worker_id: string | null }>(
    `SELECT ended.task_id, ended.worker_id
     FROM unnest($1::text[], $2::text[], $3::text[]) AS k(task_id, job_id, node_id)
     CROSS JOIN LATERAL (
       SELECT task_id, worker_id FROM dagapp.dag_attempts
       WHERE task_id = k.task_id AND job_id = k.job_id AND node_id = k.node_id OFFSET 0) ended`,
    [
      reports.map(({ task_id }) => task_id),
      reports.map(({ job_id }) => job_id),
      reports.map(({ node_id }) => node_id),
    ],
  );
  const workers = new Map(rows.map(({ task_id, worker_id }) => [task_id, worker_id]));
  return reports.map(({ task_id, worker_id }) =>
    workers.has(task_id) && workers.get(task_id) === worker_id ? "ok" : "lost",
  );
}

/**
 * Completes the messages of reports, and records the failures among them: a success is recorded by its
 * node, in the same transaction. The transaction fails unless every lease is held and no failure has
 * another result of its task before it.
 */
export function recordExpectedReports(
  tx: Transaction,
  reports: readonly (LeasedReport & { readonly started_at: string | null })[],
): void {
  const held = byMessage(reports).map(({ lease }) => lease);
  const { text, values, name } = completeHeld(held, [held.length]);
  tx.send(text, values, name);
  const failures = reports.filter(({ status }) => status === "failed");
  if (failures.length === 0) return;
  tx.send(recordFailuresSql, reportColumns(failures), "dag_record_failures");
}

/** The order of locks in all statements, so that two on the same leases cannot deadlock. */
function byMessage(reports: readonly LeasedReport[]): readonly LeasedReport[] {
  return [...reports].sort((a, b) => a.lease.message_id - b.lease.message_id);
}

function columns(reports: readonly LeasedReport[]): unknown[] {
  return reportColumns(
    reports,
    reports.map(({ lease }) => lease),
  );
}
