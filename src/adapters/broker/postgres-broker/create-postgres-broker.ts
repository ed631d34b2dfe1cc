/**
 * The default broker: messages are rows, so publishing can join the caller's transaction and a
 * result can be recorded in the statement that completes its message.
 *
 * A message is in one table at a time: ready, leased or dead. NOTIFY wakes the consumers, so nothing
 * waits for a timer while there is work; a slow poll returns expired leases and covers notifications
 * that a lost connection missed.
 */
import { queueChannel, withdrawnChannel } from "../../postgres/channels.ts";
import type { Database } from "../../postgres/database.ts";
import { openLeaseDatabase } from "../../postgres/hot-database.ts";
import type { Listen } from "../../postgres/share-listener.ts";
import { shareListener } from "../../postgres/share-listener.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import { createDebouncedWriter } from "../../runtime/debounced-writer.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { Broker, BrokerCapabilities, Settled } from "../broker.ts";
import { findMissing, takeNewDeadLetters, takeOverdue } from "./sql/find-failed.ts";
import { ensureQueue, readDeadLetters, readDepth, readLeaseMs, requeue } from "./sql/inspect.ts";
import { maintainQueues } from "./sql/maintain.ts";
import type { LeaseToken } from "./sql/message-columns.ts";
import type { Progress } from "./sql/progress.ts";
import { writeProgress, writeProgressOf } from "./sql/progress.ts";
import { publish } from "./sql/publish.ts";
import type { PushClient } from "./push/client.ts";
import type { PushConnections } from "./push/connections.ts";
import { pushMessages } from "./push/publish.ts";
import { startRenewal } from "./consume/renewal.ts";
import type { Renewal } from "./consume/renewal.ts";
import { createReportWriter } from "./consume/report-writer.ts";
import { complete } from "./sql/settle.ts";
import { subscribe } from "./consume/subscription.ts";
import type { PostgresSubscription } from "./consume/subscription.ts";
import { returnExpired } from "./sql/sweep.ts";
import { withdraw } from "./sql/withdraw.ts";

export interface PostgresBrokerOptions {
  readonly db: Database;
  readonly url: string;
  /** The process that leases, as each lease shows it. */
  readonly holder: string;
  readonly log: Logger;
  /** Connections for leases, when the program has them already; otherwise the broker opens some. */
  readonly leaseDb?: Database;
  /** The process's own listening connection, where it has one; otherwise the broker opens one. */
  readonly listen?: Listen;
  /** Workers to push messages to: the broker of an orchestrator has them. */
  readonly pushConnections?: PushConnections;
  /** Connections to push servers: the broker of a worker has them. */
  readonly pushClient?: PushClient | undefined;
  /** The longest time between two polls of an idle consumer. */
  readonly pollMs?: number;
}

const capabilities: BrokerCapabilities = {
  name: "postgres",
  priority: "exact",
  delay: "any",
  dedupe: true,
  lease: "timed",
  fenced: true,
  transactionalPublish: true,
  withdraw: true,
};

const defaultPollMs = 5000;
const maxCompletions = 100;

/** The parts that only a consumer needs; a process that just publishes opens none of them. */
interface Consuming {
  readonly leases: Database;
  readonly renewal: Renewal;
  readonly listen: Listen;
  closeListener(): Promise<void>;
}

export function createPostgresBroker(options: PostgresBrokerOptions): Broker {
  const { db, url, holder, log, pushConnections, pushClient } = options;
  const subscriptions = new Set<PostgresSubscription>();
  let consuming: Consuming | undefined;
  let pollTimer: NodeJS.Timeout | undefined;
  let pollMs = options.pollMs ?? defaultPollMs;
  let closed = false;

  const leases = (): Database => (consuming ??= startConsuming()).leases;
  const completions = createBatcher<LeaseToken, Settled>({
    maxItems: maxCompletions,
    flush: (batch) => complete(leases(), batch),
  });
  const reports = createReportWriter({ db: leases, push: pushClient, log });
  const progress = createDebouncedWriter<Progress>({
    what: "progress",
    delayMs: 500,
    maxWaiting: 1000,
    write: (rows) => writeProgress(leases(), rows),
    log,
  });

  function startConsuming(): Consuming {
    const onError = (err: Error) => {
      log.warn({ err }, "a connection of the broker was lost");
    };
    const leases =
      options.leaseDb ??
      openLeaseDatabase({ url, applicationName: `${holder} leases`, onConnectionLost: onError });
    const renewal = startRenewal({ url, applicationName: `${holder} renewal` }, log);
    const own =
      options.listen === undefined
        ? shareListener(url, { applicationName: `${holder} listen`, onError })
        : undefined;
    const listen = own?.listen ?? options.listen;
    if (listen === undefined) throw new Error("there is always a listener");
    const withdrawn = listen([withdrawnChannel], () => {
      renewal.renewNow();
    });
    return { leases, renewal, listen, closeListener: () => (own ?? withdrawn).close() };
  }

  function schedulePoll(): void {
    clearTimeout(pollTimer);
    if (!closed && subscriptions.size > 0) pollTimer = setTimeout(() => void poll(), pollMs);
  }

  async function poll(): Promise<void> {
    try {
      await returnExpired(leases());
    } catch (err) {
      log.warn({ err }, "expired leases could not be returned; trying again");
    }
    for (const subscription of subscriptions) subscription.wake();
    schedulePoll();
  }

  return {
    capabilities,
    ensureQueue: (queue, spec) => ensureQueue(db, queue, spec),
    publish: async (queue, messages, { tx } = {}) => {
      const left =
        tx === undefined || pushConnections === undefined
          ? messages
          : pushMessages(pushConnections, tx, queue, messages);
      await publish(tx ?? db, queue, left);
    },
    withdraw: (groups, { tx }) => withdraw(tx, groups),
    ...(pushConnections === undefined ? {} : { pushedReports: pushConnections }),
    findMissing: (messages) => findMissing(db, messages),
    takeOverdue,
    takeNewDeadLetters,
    recordProgress: (id, percent, message) => writeProgressOf(db, id, percent, message),
    consume: async (queue, { maxInFlight }, handler) => {
      if (closed) throw new Error("This broker is closed.");
      const leaseMs = await readLeaseMs(db, queue);
      // An expired lease is found within half of its length.
      pollMs = Math.min(pollMs, leaseMs / 2);
      const { renewal, listen } = (consuming ??= startConsuming());
      const subscription = subscribe({
        db: leases(),
        completions,
        reports,
        progress,
        renewal,
        push: pushClient,
        holder,
        queue,
        leaseMs,
        maxInFlight,
        handler,
        log,
      });
      subscriptions.add(subscription);
      const listening = listen([queueChannel(queue)], () => {
        subscription.wake();
      });
      subscription.wake();
      schedulePoll();
      return {
        close: async (closeOptions) => {
          await subscription.close(closeOptions);
          subscriptions.delete(subscription);
          await listening.close();
        },
      };
    },
    depth: (queue) => readDepth(db, queue),
    deadLetters: (queue, limit) => readDeadLetters(db, queue, limit),
    requeue: (queue, ids) => requeue(db, queue, ids),
    maintain: async () => {
      await maintainQueues(db);
    },
    close: async () => {
      if (closed) return;
      closed = true;
      clearTimeout(pollTimer);
      await Promise.all([...subscriptions].map((one) => one.close({ graceMs: 0 })));
      await Promise.all([completions.idle(), reports.idle(), progress.close()]);
      await consuming?.renewal.stop();
      await consuming?.closeListener();
      if (options.leaseDb === undefined) await consuming?.leases.close();
    },
  };
}
