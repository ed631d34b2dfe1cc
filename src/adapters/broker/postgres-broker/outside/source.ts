import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Database } from "../../../postgres/database.ts";
import { reach } from "../../../runtime/fail-points.ts";
import type { Logger } from "../../../runtime/logger.ts";
import { handlerHeader } from "../../broker.ts";
import type { ArrivedMessage, CarriedMessage, Transport } from "../../transport.ts";
import { sendingOf } from "../../transport.ts";
import { leaseArrived, leaseNone, postpone } from "../sql/carry.ts";
import type { ArrivedLeases } from "../sql/carry.ts";
import type { FetchOptions, FetchResult } from "../sql/fetch.ts";
import { publish } from "../sql/publish.ts";
import { createReceiver } from "./receiver.ts";

/** The arrived messages of one queue, as a subscription fetches them. */
export interface OutsideSource {
  readonly fetch: (limit: number, options: FetchOptions) => Promise<FetchResult>;
  /** Messages that have arrived and are not leased. */
  readonly waiting: () => number;
  readonly close: () => Promise<void>;
}

export interface OutsideSourceOptions {
  readonly db: () => Database;
  readonly transport: Transport;
  readonly queue: string;
  /** The next fetch may find messages. */
  readonly onArrival: () => void;
  readonly log: Logger;
}

/**
 * A message that this consumer does not accept comes again after this time, to any consumer, and later
 * after twice the time each, so that a handler that no worker has costs little.
 */
const notAccepted = { firstMs: 1000, longestMs: 60_000 };
/** More than a connection has on its way. */
const mostKnown = 10_000;

export function createOutsideSource(options: OutsideSourceOptions): OutsideSource {
  const { db, transport, queue, onArrival, log } = options;
  let leasing = 0;
  const settling = new Set<Promise<void>>();
  /**
   * Sendings that were leased here, and the flush of their leases. A lock that ends, or a connection that
   * drops, before the outside broker knows of a lease brings its message again, also after it was completed.
   */
  const known = new LRUCache<string, Promise<void>>({ max: mostKnown });
  const receiver = createReceiver({
    transport,
    from: { queue, dead: false },
    onArrival,
    isTaking: () => leasing > 0,
    log,
  });

  async function lease(
    arrived: readonly ArrivedMessage[],
    fetchOptions: FetchOptions,
  ): Promise<ArrivedLeases> {
    const carried: CarriedMessage[] = [];
    const refused: CarriedMessage[] = [];
    for (const message of arrived) {
      if (message.carried === undefined) await republish(message);
      else if (known.has(sendingOf(message.carried))) continue;
      else if (isAccepted(message.carried, fetchOptions.accepts)) carried.push(message.carried);
      else refused.push(message.carried);
    }
    if (refused.length > 0) await postpone(db(), queue, refused, notAccepted);
    const leases = await leaseArrived(db(), queue, carried, fetchOptions);
    const leased = new Set(leases.fetched.messages.map(({ message_id }) => message_id));
    for (const message of carried) {
      if (leased.has(message.message_id)) known.set(sendingOf(message), leases.flushed);
    }
    return leases;
  }

  /**
   * Accepts messages when their leases are on disk, and meanwhile their handlers run. Those that were not
   * leased too: they came twice, or their task has ended. A second copy waits for the flush of the first one's
   * lease: the commit of a later fetch says nothing of it where the server was replaced in between.
   */
  function settle(arrived: readonly ArrivedMessage[], flushed: Promise<void>): void {
    const byFlush = new Map<Promise<void>, ArrivedMessage[]>();
    for (const message of arrived) {
      const { carried } = message;
      const first = carried === undefined ? undefined : known.get(sendingOf(carried));
      const group = byFlush.get(first ?? flushed);
      if (group === undefined) byFlush.set(first ?? flushed, [message]);
      else group.push(message);
    }
    for (const [flush, messages] of byFlush) {
      const settled = settleAfter(flush, messages).finally(() => settling.delete(settled));
      settling.add(settled);
    }
  }

  /** Leases that may be lost are tried again: a second copy of one that is there gets none. */
  async function settleAfter(
    flushed: Promise<void>,
    messages: readonly ArrivedMessage[],
  ): Promise<void> {
    try {
      await flushed;
      for (const message of messages) message.accept();
    } catch (err) {
      log.warn({ err, queue }, "leases may not be on disk; their messages are returned");
      for (const message of messages) {
        if (message.carried !== undefined) known.delete(sendingOf(message.carried));
        message.giveBack();
      }
    }
  }

  /** Publishes the message of another program again, with what a lease needs. */
  async function republish({ id, body }: ArrivedMessage): Promise<void> {
    await publish(db(), queue, [{ id: id ?? randomUUID(), body }]);
  }

  return {
    async fetch(limit, fetchOptions) {
      const arrived = receiver.take(limit);
      if (arrived.length === 0) return leaseNone(db(), queue, fetchOptions);
      leasing += arrived.length;
      try {
        reach("outside.before_lease");
        const { fetched, flushed } = await lease(arrived, fetchOptions);
        reach("outside.after_lease");
        settle(arrived, flushed);
        // A batch with duplicates is not full, although more messages wait.
        if (arrived.length === limit && fetched.messages.length < limit) onArrival();
        return fetched;
      } catch (error) {
        for (const message of arrived) message.giveBack();
        throw error;
      } finally {
        leasing -= arrived.length;
      }
    },
    waiting: () => receiver.waiting() + leasing,
    close: async () => {
      await Promise.all(settling);
      await receiver.close();
    },
  };
}

function isAccepted({ headers }: CarriedMessage, accepts: readonly string[] | undefined): boolean {
  const handler = headers?.[handlerHeader];
  return accepts === undefined || handler === undefined || accepts.includes(String(handler));
}
