/**
 * The workers that are connected to a push server: how many messages each takes, and the reports
 * that they pushed. Nothing here survives the process, and nothing has to.
 */
import { reach } from "../../../runtime/fail-points.ts";
import type { PushedReport, PushedReports } from "../../broker.ts";
import type { LeasedMessage, LeaseToken } from "../sql/message-columns.ts";
import { recordExpectedReports } from "../sql/record-reports.ts";
import type { FromClient, FromServer } from "./protocol.ts";

/** One connected worker. */
export interface Connection {
  readonly workerId: string;
  /** By queue: how many more messages the worker takes. */
  readonly credit: Map<string, number>;
  /** False: the connection is gone, and the line was not sent. */
  send(line: FromServer): boolean;
}

/** Credit that is set aside for messages of a transaction. */
export interface ReservedCredit {
  readonly connection: Connection;
  readonly count: number;
}

export interface PushCounters {
  pushed: number;
  reported: number;
}

interface Origin {
  readonly lease: LeaseToken;
  readonly from: Connection;
}

export class PushConnections implements PushedReports {
  readonly counters: PushCounters = { pushed: 0, reported: 0 };
  private readonly connections = new Set<Connection>();
  private arrived: PushedReport[] = [];
  private readonly origins = new WeakMap<PushedReport, Origin>();
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
    this.arrived = this.arrived.filter((report) => this.originOf(report).from !== connection);
  }

  receive(connection: Connection, { reports = [], credit = {}, stop }: FromClient): void {
    for (const [queue, count] of Object.entries(credit)) {
      connection.credit.set(queue, (connection.credit.get(queue) ?? 0) + count);
    }
    for (const { lease, leased_at, ...report } of reports) {
      const pushed = { ...report, started_at: leased_at, worker_id: connection.workerId };
      this.origins.set(pushed, { lease, from: connection });
      this.arrived.push(pushed);
    }
    if (stop !== undefined) {
      connection.credit.delete(stop);
      connection.send({ stopped: stop });
    }
    if (reports.length === 0) return;
    reach("push.report_received");
    this.wake();
  }

  /** Spreads messages over the workers with credit; what is left over belongs to the queue. */
  reserve(queue: string, count: number): readonly ReservedCredit[] {
    const waiting = [...this.connections].filter(({ credit }) => (credit.get(queue) ?? 0) > 0);
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

  take(limit: number): readonly PushedReport[] {
    return this.arrived.splice(0, limit);
  }

  record: PushedReports["record"] = (tx, reports) => {
    const leased = reports.map(({ started_at: _, ...report }, index) => ({
      ...report,
      lease: this.originOf(reports[index]).lease,
    }));
    recordExpectedReports(tx, leased);
    tx.afterCommit(() => {
      this.counters.reported += reports.length;
      for (const [from, recorded] of this.byConnection(reports)) from.send({ recorded });
    });
  };

  refuse(reports: readonly PushedReport[]): void {
    for (const [from, refused] of this.byConnection(reports)) from.send({ refused });
  }

  private byConnection(reports: readonly PushedReport[]): ReadonlyMap<Connection, number[]> {
    const ids = new Map<Connection, number[]>();
    for (const report of reports) {
      const { from, lease } = this.originOf(report);
      const known = ids.get(from);
      if (known === undefined) ids.set(from, [lease.message_id]);
      else known.push(lease.message_id);
    }
    return ids;
  }

  private originOf(report: PushedReport | undefined): Origin {
    const origin = report && this.origins.get(report);
    if (origin === undefined) throw new Error("this report did not arrive here");
    return origin;
  }
}
