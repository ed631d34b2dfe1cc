import type { TaskReport } from "../../../../core/messages.ts";
import type { Queryable, Transaction } from "../../../postgres/queryable.ts";
import { recordReportsSql, reportColumns } from "../../../postgres/repositories/reports.ts";
import type { Settled } from "../../broker.ts";
import type { LeaseToken } from "./message-columns.ts";

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
  WHERE lease.message_id = incoming.message_id AND lease.deliveries = incoming.deliveries
  RETURNING incoming.*, lease.leased_at AS started`;
const recordHeldSql = recordReportsSql({ accepted: acceptHeldSql, expected: false });
const recordExpectedSql = recordReportsSql({ accepted: acceptHeldSql, expected: true });

/**
 * Records reports and answers for each, in the order given: `lost` when its lease was no longer held,
 * and then nothing was recorded. `db` should commit asynchronously.
 */
export async function recordReports(
  db: Queryable,
  reports: readonly LeasedReport[],
): Promise<Settled[]> {
  if (reports.length === 0) return [];
  const ordered = byMessage(reports);
  const { rows } = await db.query<{ accepted: number[] | null }>(
    recordHeldSql,
    columns(ordered),
    "dag_record_reports",
  );
  const recorded = new Set(rows[0]?.accepted?.map((ordinal) => ordered[ordinal - 1]));
  return reports.map((report) => (recorded.has(report) ? "ok" : "lost"));
}

/** Records reports. The transaction fails unless every lease is held and every report is the first. */
export function recordExpectedReports(tx: Transaction, reports: readonly LeasedReport[]): void {
  tx.send(recordExpectedSql, columns(byMessage(reports)), "dag_record_expected_reports");
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
