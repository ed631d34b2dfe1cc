/**
 * Joins an outside broker to the tables: the ready table is its outbox, and its consumers lease in
 * PostgreSQL what it delivers. Leases, retries, delays, reports, withdrawals and dead letters are
 * therefore the same with every outside broker.
 */
import type { Database } from "../../../postgres/database.ts";
import { openRelayDatabase } from "../../../postgres/hot-database.ts";
import type { Listen } from "../../../postgres/share-listener.ts";
import type { Logger } from "../../../runtime/logger.ts";
import type { Broker, BrokerCapabilities, OutsideStatus, QueueDepth } from "../../broker.ts";
import type { Transport } from "../../transport.ts";
import { readOutbox } from "../sql/carry.ts";
import type { FetchOptions, FetchResult } from "../sql/fetch.ts";
import { findMissing, keepOverdue } from "../sql/find-failed.ts";
import { startDeadLetters } from "./dead-letters.ts";
import { startRelay } from "./relay.ts";
import type { OutsideSource } from "./source.ts";
import { createOutsideSource } from "./source.ts";

export interface OutsideOptions {
  readonly db: Database;
  readonly url: string;
  readonly holder: string;
  readonly leases: () => Database;
  readonly listen: Listen;
  readonly transport: Transport;
  readonly relays: boolean;
  readonly log: Logger;
}

export interface Outside {
  readonly capabilities: Pick<BrokerCapabilities, "name" | "priority" | "selects">;
  /** Sends the messages of this queue from now on, where this process relays. */
  readonly declare: (queue: string) => void;
  readonly open: (queue: string, onArrival: () => void) => OutsideSource;
  /** Leases for consumers outside of the fleet's processes. */
  readonly fetch: (queue: string, limit: number, options: FetchOptions) => Promise<FetchResult>;
  readonly watch: (queues: readonly string[], ring: () => void) => { close(): Promise<void> };
  readonly findMissing: Broker["findMissing"];
  readonly addDepth: (queue: string, depth: QueueDepth) => Promise<QueueDepth>;
  readonly readStatus: () => Promise<OutsideStatus>;
  readonly close: () => Promise<void>;
}

export function createOutside(options: OutsideOptions): Outside {
  const { db, transport, relays, log } = options;
  const sources = new Map<OutsideSource, string>();
  const services = new Map<string, { stop(): Promise<unknown> }>();
  /** Of consumers outside of the fleet: one source for each queue, and who waits for it. */
  const shared = new Map<string, OutsideSource>();
  const rings = new Set<{ readonly queues: readonly string[]; readonly ring: () => void }>();
  const lastCounts = new Map<string, number>();
  let relayDb: Database | undefined;

  function open(queue: string, onArrival: () => void): OutsideSource {
    const source = createOutsideSource({ db: options.leases, transport, queue, onArrival, log });
    sources.set(source, queue);
    return {
      ...source,
      close: async () => {
        await source.close();
        sources.delete(source);
      },
    };
  }

  function openShared(queue: string): OutsideSource {
    const source = open(queue, () => {
      for (const { queues, ring } of rings) if (queues.includes(queue)) ring();
    });
    shared.set(queue, source);
    return source;
  }

  function startServices(queue: string): { stop(): Promise<unknown> } {
    relayDb ??= openRelayDatabase({
      url: options.url,
      applicationName: `${options.holder} relay`,
      onConnectionLost: (err) => {
        log.warn({ err }, "a connection of the relay was lost");
      },
    });
    const relay = startRelay({ db: relayDb, transport, queue, log }, options.listen);
    const dead = startDeadLetters({ db, transport, queue, log });
    return { stop: () => Promise.all([relay.stop(), dead.stop()]) };
  }

  async function countWaiting(queue: string): Promise<number> {
    try {
      const count = await transport.countWaiting(queue);
      lastCounts.set(queue, count);
      return count;
    } catch {
      // While the outside broker is away its messages wait there: the last count is the best one.
      return lastCounts.get(queue) ?? 0;
    }
  }

  return {
    capabilities: { name: transport.name, priority: transport.priority, selects: false },
    declare(queue) {
      if (relays && !services.has(queue)) services.set(queue, startServices(queue));
    },
    open,
    fetch: (queue, limit, fetchOptions) =>
      (shared.get(queue) ?? openShared(queue)).fetch(limit, fetchOptions),
    watch(queues, ring) {
      const waiting = { queues, ring };
      rings.add(waiting);
      return {
        close: async () => {
          rings.delete(waiting);
        },
      };
    },
    async findMissing(messages) {
      const inNoTable = await findMissing(db, messages);
      if (inNoTable.size === 0) return inNoTable;
      // A message may wait in the outside broker, or a consumer of another program may hold it.
      const overdue = await keepOverdue(
        db,
        messages.filter(({ id }) => inNoTable.has(id)),
      );
      const queues = [...new Set(overdue.map(({ queue }) => queue))];
      const counts = await Promise.all(queues.map((queue) => transport.countWaiting(queue)));
      const empty = new Set(queues.filter((_, index) => counts[index] === 0));
      return new Set(overdue.filter(({ queue }) => empty.has(queue)).map(({ id }) => id));
    },
    async addDepth(queue, depth) {
      const waiting = await countWaiting(queue);
      const arrived = [...sources].filter(([, from]) => from === queue);
      const here = arrived.reduce((sum, [source]) => sum + source.waiting(), 0);
      return { ...depth, ready: depth.ready + waiting + here };
    },
    readStatus: async () => ({ ...transport.status(), ...(await readOutbox(db)) }),
    async close() {
      await Promise.all([...services.values()].map((service) => service.stop()));
      await Promise.all([...sources.keys()].map((source) => source.close()));
      await transport.close();
      await relayDb?.close();
    },
  };
}
