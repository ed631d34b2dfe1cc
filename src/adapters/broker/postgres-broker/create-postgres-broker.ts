/**
 * The default broker: messages are rows, so publishing can join the caller's transaction and a
 * result can be recorded in the statement that acknowledges its message.
 *
 * A message is in one table at a time: ready, leased or dead. Nothing waits for a timer while there
 * is work: NOTIFY wakes the consumers, and a slow poll, which also returns expired leases, covers
 * what a lost connection did not hear.
 */
import type { Database } from "../../postgres/database.ts";
import { shareListener } from "../../postgres/share-listener.ts";
import type { Hear } from "../../postgres/share-listener.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { Broker, BrokerCapabilities, LeaseToken, Settled } from "../broker.ts";
import { queueChannel, withdrawnChannel } from "./columns.ts";
import { ensureQueue, readDeadLetters, readDepth, readLeaseMs, requeue } from "./inspect.ts";
import { openLeaseDatabase } from "../../postgres/hot-database.ts";
import { publishHeld } from "./hand.ts";
import { publish } from "./publish.ts";
import { startRenewal } from "./renewal.ts";
import type { Renewal } from "./renewal.ts";
import { complete } from "./settle.ts";
import { subscribe } from "./subscription.ts";
import type { PostgresSubscription } from "./subscription.ts";
import { returnExpired } from "./sweep.ts";
import { withdraw } from "./withdraw.ts";

export interface PostgresBrokerOptions {
  readonly db: Database;
  readonly url: string;
  /** Who leases: shown with each lease. */
  readonly holder: string;
  readonly log: Logger;
  /** Connections for leases, when the program has them already; otherwise the broker opens some. */
  readonly leaseDb?: Database;
  /** The process's own listening connection, where it has one; otherwise the broker opens one. */
  readonly hear?: Hear;
  /** The longest time between two looks of an idle consumer. */
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

/** What only a consumer needs; a process that just publishes opens none of it. */
interface Consuming {
  readonly leases: Database;
  readonly renewal: Renewal;
  readonly hear: Hear;
  closeListener(): Promise<void>;
}

export function createPostgresBroker(options: PostgresBrokerOptions): Broker {
  const { db, url, holder, log } = options;
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

  function startConsuming(): Consuming {
    const onError = (err: Error) => {
      log.warn({ err }, "a connection of the broker was lost");
    };
    const leases =
      options.leaseDb ??
      openLeaseDatabase({ url, applicationName: `${holder} leases`, onConnectionLost: onError });
    const renewal = startRenewal({ url, applicationName: `${holder} renewal` }, log);
    const own =
      options.hear === undefined
        ? shareListener(url, { applicationName: `${holder} listen`, onError })
        : undefined;
    const hear = own?.hear ?? options.hear;
    if (hear === undefined) throw new Error("there is always a listener");
    const withdrawn = hear([withdrawnChannel], () => {
      renewal.renewNow();
    });
    return { leases, renewal, hear, closeListener: () => (own ?? withdrawn).close() };
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
    publish: (queue, messages, { tx } = {}) => publish(tx ?? db, queue, messages),
    publishHeld: (queue, messages, holders, { tx }) => publishHeld(tx, queue, messages, holders),
    withdraw: (groups, { tx }) => withdraw(tx, groups),
    consume: async (queue, { maxInFlight, hands }, handler) => {
      if (closed) throw new Error("This broker is closed.");
      const leaseMs = await readLeaseMs(db, queue);
      // A lease that ran out is to be seen before a second one would have.
      pollMs = Math.min(pollMs, leaseMs / 2);
      const { renewal, hear } = (consuming ??= startConsuming());
      const parts = { db: leases(), completions, renewal, holder, log };
      const subscription = subscribe({ ...parts, queue, leaseMs, maxInFlight, hands, handler });
      subscriptions.add(subscription);
      const ear = hear([queueChannel(queue)], () => {
        subscription.wake();
      });
      subscription.wake();
      schedulePoll();
      return {
        close: async (closeOptions) => {
          await subscription.close(closeOptions);
          subscriptions.delete(subscription);
          await ear.close();
        },
      };
    },
    depth: (queue) => readDepth(db, queue),
    deadLetters: (queue, limit) => readDeadLetters(db, queue, limit),
    requeue: (queue, ids) => requeue(db, queue, ids),
    close: async () => {
      if (closed) return;
      closed = true;
      clearTimeout(pollTimer);
      await Promise.all([...subscriptions].map((one) => one.close({ graceMs: 0 })));
      await completions.idle();
      await consuming?.renewal.stop();
      await consuming?.closeListener();
      if (options.leaseDb === undefined) await consuming?.leases.close();
    },
  };
}
