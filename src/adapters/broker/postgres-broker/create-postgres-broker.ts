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
import type { Transport } from "../transport.ts";
import { createOutside } from "./outside/outside.ts";
import { findMissing, takeNewDeadLetters, takeOverdue } from "./sql/find-failed.ts";
import { ensureQueue, findLeaseMs, readDeadLetters, readDepth, requeue } from "./sql/inspect.ts";
import { maintainQueues } from "./sql/maintain.ts";
import type { LeaseToken } from "./sql/message-columns.ts";
import type { Progress } from "./sql/progress.ts";
import { writeProgress, writeProgressOf } from "./sql/progress.ts";
import { publish } from "./sql/publish.ts";
import type { PushClient } from "./push/client.ts";
import type { PushConnections } from "./push/connections.ts";
import { pushMessages } from "./push/publish.ts";
import { createFetchFromMark } from "./consume/fetch-from-mark.ts";
import { createRemoteLeases } from "./consume/remote-leases.ts";
import { startRenewal } from "./consume/renewal.ts";
import type { Renewal } from "./consume/renewal.ts";
import { createReportWriter } from "./consume/report-writer.ts";
import { complete } from "./sql/settle.ts";
import { HeldDelivery } from "./consume/delivery.ts";
import { createIsolation } from "./consume/isolation.ts";
import { returnCrashed } from "./sql/return-crashed.ts";
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
  /**
   * Workers to push messages to, and to get reports from: the broker of an orchestrator has them. With an
   * outside broker they only report.
   */
  readonly pushConnections?: PushConnections;
  /** Connections to push servers: the broker of a worker has them. */
  readonly pushClient?: PushClient | undefined;
  /** The outside broker that carries messages to consumers; absent: they fetch from the tables. */
  readonly transport?: Transport | undefined;
  /** This process sends ready messages to the outside broker: the broker of an orchestrator does. */
  readonly relays?: boolean;
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
  selects: true,
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
  const isolation = createIsolation();
  let consuming: Consuming | undefined;
  let pollTimer: NodeJS.Timeout | undefined;
  let pollMs = options.pollMs ?? defaultPollMs;
  let closed = false;

  const leases = (): Database => (consuming ??= startConsuming()).leases;
  const fetchFromMark = createFetchFromMark(leases);
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

  const outside =
    options.transport &&
    createOutside({
      db,
      url,
      holder,
      leases,
      listen: (...args) => (consuming ??= startConsuming()).listen(...args),
      transport: options.transport,
      relays: options.relays ?? false,
      log,
    });

  function startConsuming(): Consuming {
    const onError = (err: Error) => {
      log.warn({ err }, "a connection of the broker was lost");
    };
    const leases =
      options.leaseDb ??
      openLeaseDatabase({
        url,
        applicationName: `${holder} leases`,
        isDurable: options.transport !== undefined,
        onConnectionLost: onError,
      });
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
    capabilities:
      outside === undefined ? capabilities : { ...capabilities, ...outside.capabilities },
    ensureQueue: async (queue, spec) => {
      await ensureQueue(db, queue, spec);
      outside?.declare(queue);
    },
    publish: async (queue, messages, { tx } = {}) => {
      const left =
        tx === undefined || pushConnections === undefined || outside !== undefined
          ? messages
          : pushMessages(pushConnections, tx, queue, messages);
      await publish(tx ?? db, queue, left);
    },
    withdraw: (groups, { tx }) => withdraw(tx, groups),
    ...(pushConnections === undefined ? {} : { pushedReports: pushConnections }),
    remoteLeases: createRemoteLeases({
      db: leases,
      fetch: outside?.fetch ?? fetchFromMark,
      watch:
        outside?.watch ??
        ((queues, ring) => (consuming ??= startConsuming()).listen(queues.map(queueChannel), ring)),
      leaseMs: (queue) => findLeaseMs(db, queue),
      push: pushConnections,
    }),
    findMissing: (messages) => outside?.findMissing(messages) ?? findMissing(db, messages),
    ...(outside === undefined ? {} : { outside: outside.readStatus }),
    takeOverdue,
    takeNewDeadLetters,
    takeCrashed: async (consumer) => {
      const messages = await returnCrashed(db, consumer);
      const parts = { db: leases(), completions, reports, progress };
      return messages.map(({ queue, ...message }) => new HeldDelivery(parts, queue, message));
    },
    recordProgress: (id, percent, message) => writeProgressOf(db, id, percent, message),
    consume: async (queue, { maxInFlight, accepts }, handler) => {
      if (closed) throw new Error("This broker is closed.");
      const leaseMs = await findLeaseMs(db, queue);
      if (leaseMs === undefined) {
        throw new Error(`Queue "${queue}" is not declared: call ensureQueue before consuming it.`);
      }
      // An expired lease is found within half of its length.
      pollMs = Math.min(pollMs, leaseMs / 2);
      const { renewal, listen } = (consuming ??= startConsuming());
      const source = outside?.open(queue, () => {
        subscription.wake();
      });
      const subscription = subscribe({
        db: leases(),
        fetch: source?.fetch ?? ((...args) => fetchFromMark(queue, ...args)),
        completions,
        reports,
        progress,
        renewal,
        isolation,
        push: outside === undefined ? pushClient : undefined,
        holder,
        queue,
        leaseMs,
        maxInFlight,
        accepts,
        handler,
        log,
      });
      subscriptions.add(subscription);
      // Messages of an outside broker wake the subscription when they arrive.
      const listening =
        source === undefined
          ? listen([queueChannel(queue)], () => {
              subscription.wake();
            })
          : undefined;
      subscription.wake();
      schedulePoll();
      return {
        close: async (closeOptions) => {
          await subscription.close(closeOptions);
          subscriptions.delete(subscription);
          await source?.close();
          await listening?.close();
        },
      };
    },
    depth: async (queue) => {
      const depth = await readDepth(db, queue);
      return outside === undefined ? depth : outside.addDepth(queue, depth);
    },
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
      await outside?.close();
      await Promise.all([completions.idle(), reports.idle(), progress.close()]);
      await consuming?.renewal.stop();
      await consuming?.closeListener();
      if (options.leaseDb === undefined) await consuming?.leases.close();
    },
  };
}
