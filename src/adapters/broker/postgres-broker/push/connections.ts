/**
 * The workers that are connected to a push server: how many messages each takes, and the reports
 * that they pushed. Nothing here survives the process, and nothing has to.
 */
import { reach } from "../../../runtime/fail-points.ts";
import type { PushedReport, PushedReports } from "../../broker.ts";
import type { LeasedMessage, LeaseToken } from "../sql/message-columns.ts";
import { recordExpectedReports } from "../sql/record-reports.ts";
import type { FromClient, FromServer, SentReport } from "./protocol.ts";

/** One connected worker. */
export interface Connection {
  readonly workerId: string;
  /** By queue: how many more messages the worker takes. */
  readonly credit: Map<string, number>;
  /** Undefined: it takes messages for any handler. */
  handlers?: ReadonlySet<string>;
  /** False: the connection is gone, and the line was not sent. */
  send(line: FromServer): boolean;
}

/** Credit that is reserved for messages of a transaction. */
export interface ReservedCredit {
  readonly connection: Connection;
  readonly count: number;
}

export interface PushCounters {
  pushed: number;
  reported: number;
}

/** A pushed report with the lease it settles and the connection that its answer goes to. */
class ArrivedReport implements PushedReport {
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  readonly status: PushedReport["status"];
  readonly output: string | null;
  readonly error: string | null;
  readonly worker_id: string;
  readonly started_at: string | null;
  readonly lease: LeaseToken;
  readonly from: Connection;

  constructor(report: SentReport, from: Connection) {
    this.task_id = report.task_id;
    this.job_id = report.job_id;
    this.node_id = report.node_id;
    this.status = report.status;
    this.output = report.output;
    this.error = report.error;
    this.worker_id = from.workerId;
    this.started_at = report.leased_at;
    this.lease = report.lease;
    this.from = from;
  }
}

function takesAll({ handlers: taken }: Connection, wanted: ReadonlySet<string>): boolean {
  if (taken === undefined) return true;
  for (const handler of wanted) if (!taken.has(handler)) return false;
  return true;
}

export class PushConnections implements PushedReports {
  readonly counters: PushCounters = { pushed: 0, reported: 0 };
  private readonly connections = new Set<Connection>();
  private arrived: ArrivedReport[] = [];
  private wake: () => void = () => undefined;
  private readonly release: (leases: readonly LeaseToken[]) => void;

  /** `release` returns messages to their queue that could not be pushed. */
  constructor(release: (leases: readonly LeaseToken[]) => void) {
    this.release = release;
  }

  add(connection: Connection): void {
    this.connections.add(connection);
  }

  /** Reports that wait here are dropped: their worker writes them to the database. */
  remove(connection: Connection): void {
    this.connections.delete(connection);
    connection.credit.clear();
    this.arrived = this.arrived.filter(({ from }) => from !== connection);
  }

  receive(connection: Connection, { reports = [], credit = {}, handlers, stop }: FromClient): void {
    if (handlers !== undefined) connection.handlers = new Set(handlers);
    for (const [queue, count] of Object.entries(credit)) {
      connection.credit.set(queue, (connection.credit.get(queue) ?? 0) + count);
    }
    for (const report of reports) this.arrived.push(new ArrivedReport(report, connection));
    if (stop !== undefined) {
      connection.credit.delete(stop);
      connection.send({ stopped: stop });
    }
    if (reports.length === 0) return;
    reach("push.report_received");
    this.wake();
  }

  /**
   * Spreads messages over the workers that have credit and take all these handlers; what is left over
   * belongs to the queue, which serves each worker what it takes.
   */
  reserve(
    queue: string,
    count: number,
    handlers: ReadonlySet<string> = new Set(),
  ): readonly ReservedCredit[] {
    const waiting = [...this.connections].filter(
      (connection) => (connection.credit.get(queue) ?? 0) > 0 && takesAll(connection, handlers),
    );
    const reserved: ReservedCredit[] = [];
    let left = count;
    waiting.forEach((connection, index) => {
      const credit = connection.credit.get(queue) ?? 0;
      const share = Math.min(credit, Math.ceil(left / (waiting.length - index)));
      if (share === 0) return;
      connection.credit.set(queue, credit - share);
      reserved.push({ connection, count: share });
      left -= share;
    });
    return reserved;
  }

  unreserve(queue: string, reserved: readonly ReservedCredit[]): void {
    for (const { connection, count } of reserved) {
      if (!this.connections.has(connection)) continue;
      connection.credit.set(queue, (connection.credit.get(queue) ?? 0) + count);
    }
  }

  /** Sends committed messages; those of a connection that is gone return to their queue. */
  push(queue: string, connection: Connection, messages: readonly LeasedMessage[]): void {
    if (messages.length === 0) return;
    if (connection.send({ queue, messages })) this.counters.pushed += messages.length;
    else this.release(messages);
  }

  onArrival(wake: () => void): void {
    this.wake = wake;
  }

  waiting(): number {
    return this.arrived.length;
  }

  take(limit: number): readonly PushedReport[] {
    return this.arrived.splice(0, limit);
  }

  record: PushedReports["record"] = (tx, reports) => {
    const arrived = reports.map(asArrived);
    recordExpectedReports(tx, arrived);
    tx.afterCommit(() => {
      this.counters.reported += reports.length;
      for (const [from, recorded] of byConnection(arrived)) from.send({ recorded });
    });
  };

  refuse(reports: readonly PushedReport[]): void {
    for (const [from, refused] of byConnection(reports.map(asArrived))) from.send({ refused });
  }
}

function byConnection(reports: readonly ArrivedReport[]): ReadonlyMap<Connection, number[]> {
  const ids = new Map<Connection, number[]>();
  for (const { from, lease } of reports) {
    const known = ids.get(from);
    if (known === undefined) ids.set(from, [lease.message_id]);
    else known.push(lease.message_id);
  }
  return ids;
}

function asArrived(report: PushedReport): ArrivedReport {
  if (report instanceof ArrivedReport) return report;
  throw new Error("this report did not arrive here");
}
