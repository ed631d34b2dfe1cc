/**
 * Reports of consumers outside. A report goes to the engine of this process, as a pushed one of a worker does: it
 * is settled with its job in one commit. A report that the engine refuses, because another orchestrator
 * owns the job, say, is written to the inbox.
 */
import { LRUCache } from "lru-cache";
import type { TaskMessage } from "../../../../core/messages.ts";
import type { Queryable, Transaction } from "../../../postgres/queryable.ts";
import type { RemoteTask, Settled } from "../../broker.ts";
import type { Connection, PushConnections } from "../push/connections.ts";
import type { SentReport } from "../push/protocol.ts";
import type { LeasedMessage, LeaseToken } from "../sql/message-columns.ts";
import type { LeasedReport } from "../sql/record-reports.ts";
import { findRecorded, recordRemoteReports } from "../sql/record-reports.ts";
import { readRemote } from "../sql/remote.ts";

export interface RemoteReports {
  /** The holder was given this message. */
  remember(holder: string, message: LeasedMessage): void;
  /** The tasks that these leases were given for, by message id; the holder may have lost them since. */
  identify(holder: string, leases: readonly LeaseToken[]): Promise<ReadonlyMap<number, RemoteTask>>;
  report(reports: readonly LeasedReport[], tx?: Transaction): Promise<readonly Settled[]>;
}

interface Given extends RemoteTask {
  readonly deliveries: number;
  readonly leased_at: string;
}

interface HandedOver {
  readonly recorded: ReadonlySet<LeasedReport>;
  readonly handed: ReadonlySet<LeasedReport>;
}

const none: HandedOver = { recorded: new Set(), handed: new Set() };

/** More leases than this, and those given first are read from the database when they are reported. */
const mostRemembered = 20_000;
/** An engine that answers nothing for so long: the reports are written to the inbox. */
const longestWaitMs = 5000;

export function createRemoteReports(deps: {
  readonly db: () => Queryable;
  /** Absent: every report goes to the inbox. */
  readonly push: Pick<PushConnections, "receive" | "remove"> | undefined;
}): RemoteReports {
  const { db, push } = deps;
  const given = new LRUCache<string, Given>({ max: mostRemembered });
  const keyOf = (holder: string, messageId: number) => `${messageId} ${holder}`;

  function recall(holder: string, { message_id, deliveries }: LeaseToken): Given | undefined {
    const known = given.get(keyOf(holder, message_id));
    return known?.deliveries === deliveries ? known : undefined;
  }

  /** Answers which reports the engine has recorded; of the others that were sent to it nothing is known. */
  async function handOver(
    engine: NonNullable<typeof push>,
    reports: readonly LeasedReport[],
  ): Promise<HandedOver> {
    const waiting = new Map<number, LeasedReport>();
    const sent: SentReport[] = [];
    for (const report of reports) {
      const { lease, worker_id, ...rest } = report;
      // Only the holder may settle a lease, and the engine does not ask who holds it.
      const known = recall(worker_id, lease);
      if (known === undefined || waiting.has(lease.message_id)) continue;
      waiting.set(lease.message_id, report);
      sent.push({ ...rest, lease, leased_at: known.leased_at });
    }
    const recorded = new Set<LeasedReport>();
    const handed = new Set(waiting.values());
    const [first] = handed;
    if (first === undefined) return { recorded, handed };
    await new Promise<void>((resolve) => {
      const connection: Connection = {
        workerId: first.worker_id,
        credit: new Map(),
        send: (line) => {
          for (const id of "recorded" in line ? line.recorded : []) {
            const report = waiting.get(id);
            if (report !== undefined) recorded.add(report);
            waiting.delete(id);
          }
          for (const id of "refused" in line ? line.refused : []) waiting.delete(id);
          if (waiting.size === 0) end();
          return true;
        },
      };
      const end = () => {
        clearTimeout(timer);
        engine.remove(connection);
        resolve();
      };
      const timer = setTimeout(end, longestWaitMs);
      engine.receive(connection, { reports: sent });
    });
    return { recorded, handed };
  }

  return {
    remember(holder, { message_id, deliveries, leased_at, body }) {
      const { task_id, job_id, node_id } = JSON.parse(body) as TaskMessage;
      given.set(keyOf(holder, message_id), { task_id, job_id, node_id, deliveries, leased_at });
    },

    async identify(holder, leases) {
      const tasks = new Map<number, RemoteTask>();
      const unknown: LeaseToken[] = [];
      for (const lease of leases) {
        const known = recall(holder, lease);
        if (known === undefined) unknown.push(lease);
        else tasks.set(lease.message_id, known);
      }
      if (unknown.length === 0) return tasks;
      return new Map([...tasks, ...(await readRemote(db(), holder, unknown))]);
    },

    async report(reports, tx) {
      const { recorded, handed } =
        tx === undefined && push !== undefined ? await handOver(push, reports) : none;
      const left = reports.filter((report) => !recorded.has(report));
      const written = left.length === 0 ? [] : await recordRemoteReports(tx ?? db(), left);
      const lost = new Set(left.filter((_, index) => written[index] === "lost"));
      // The engine may have recorded a report that it did not answer, and the lease is gone with it.
      const doubtful = [...lost].filter((report) => handed.has(report));
      const found = doubtful.length === 0 ? [] : await findRecorded(db(), doubtful);
      for (const [index, report] of doubtful.entries()) {
        if (found[index] === "ok") lost.delete(report);
      }
      for (const { lease, worker_id } of reports) {
        given.delete(keyOf(worker_id, lease.message_id));
      }
      return reports.map((report) => (lost.has(report) ? "lost" : "ok"));
    },
  };
}
