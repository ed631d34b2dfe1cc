import { LRUCache } from "lru-cache";
import type { Queryable } from "../../../postgres/queryable.ts";
import type { RemoteConsumer, RemoteLeases, RemoteMessage, TakeOptions } from "../../broker.ts";
import type { FetchOptions, FetchResult } from "../sql/fetch.ts";
import { fetchSuspect } from "../sql/fetch.ts";
import type { LeasedMessage, LeaseToken } from "../sql/message-columns.ts";
import { holdRemote, holdsAny, keepHeld, readRemote, renewRemote } from "../sql/remote.ts";
import { writeProgress } from "../sql/progress.ts";
import { release } from "../sql/settle.ts";
import { makeDueReady } from "../sql/sweep.ts";
import type { PushConnections } from "../push/connections.ts";
import { createRemoteReports } from "./remote-reports.ts";

export interface RemoteLeaseDeps {
  readonly db: () => Queryable;
  readonly fetch: (queue: string, limit: number, options: FetchOptions) => Promise<FetchResult>;
  /** Calls `ring` when messages of these queues may be there. */
  readonly watch: (queues: readonly string[], ring: () => void) => { close(): Promise<void> };
  /** Undefined: the queue is not declared. */
  readonly leaseMs: (queue: string) => Promise<number | undefined>;
  /** Takes reports to the engine of this process. */
  readonly push: PushConnections | undefined;
}

/** The longest time between two looks of a consumer that waits: a notification may be lost. */
const pollMs = 2000;
/** How long the length of a queue's leases is used without asking the database. */
const keptMs = 5000;

/** Leases by token, `message_id.deliveries`: stale tokens and those of other holders find no row. */
export function createRemoteLeases(deps: RemoteLeaseDeps): RemoteLeases {
  const { db } = deps;
  const reports = createRemoteReports(deps);
  const lengths = new LRUCache<string, number>({ max: 1000, ttl: keptMs });
  let turn = 0;
  /** Queues with messages that must run alone. */
  const withSuspects = new Set<string>();

  async function leaseMs(queue: string): Promise<number | undefined> {
    const found = lengths.get(queue) ?? (await deps.leaseMs(queue));
    if (found !== undefined && !lengths.has(queue)) lengths.set(queue, found);
    return found;
  }

  /** Leases one suspect for a consumer that holds nothing: the suspect runs alone. */
  async function fetchAlone(consumer: RemoteConsumer): Promise<RemoteMessage | undefined> {
    const { holder, queues, accepts } = consumer;
    const suspected = queues.filter((queue) => withSuspects.has(queue));
    if (suspected.length === 0 || (await holdsAny(db(), holder))) return undefined;
    for (const queue of suspected) {
      const lease = await leaseMs(queue);
      if (lease === undefined) continue;
      const found = await fetchSuspect(db(), queue, { leaseMs: lease, holder, accepts });
      if (found !== undefined) {
        reports.remember(holder, found);
        return toRemote(found, queue, lease);
      }
      withSuspects.delete(queue);
    }
    return undefined;
  }

  /** Looks into each queue once, from another one each time, until the limit is reached. */
  async function fetchOnce(
    { holder, queues, accepts }: RemoteConsumer,
    limit: number,
  ): Promise<{ messages: RemoteMessage[]; dueInMs: number }> {
    const alone = await fetchAlone({ holder, queues, accepts });
    if (alone !== undefined) return { messages: [alone], dueInMs: Infinity };
    const messages: RemoteMessage[] = [];
    let dueInMs = Infinity;
    const start = turn++ % Math.max(1, queues.length);
    for (const queue of [...queues.slice(start), ...queues.slice(0, start)]) {
      const wanted = limit - messages.length;
      if (wanted === 0) break;
      const lease = await leaseMs(queue);
      // An orchestrator declares the queues of a new worker a moment after it registered.
      if (lease === undefined) continue;
      const found = await deps.fetch(queue, wanted, { leaseMs: lease, holder, accepts });
      for (const message of found.messages) {
        reports.remember(holder, message);
        messages.push(toRemote(message, queue, lease));
      }
      if (found.suspectMs !== null) withSuspects.add(queue);
      if (found.dueInMs === null) continue;
      if (found.dueInMs <= 0) await makeDueReady(db(), queue);
      dueInMs = Math.min(dueInMs, Math.max(0, found.dueInMs));
    }
    return { messages, dueInMs };
  }

  async function take(
    consumer: RemoteConsumer,
    { limit, waitMs, signal }: TakeOptions,
  ): Promise<readonly RemoteMessage[]> {
    const until = performance.now() + waitMs;
    const first = await fetchOnce(consumer, limit);
    if (first.messages.length > 0 || waitMs <= 0) return first.messages;
    const bell = createBell();
    const listening = deps.watch(consumer.queues, bell.ring);
    signal.addEventListener("abort", bell.ring, { once: true });
    try {
      let { dueInMs } = first;
      for (let leftMs = waitMs; leftMs > 0; leftMs = until - performance.now()) {
        await bell.wait(Math.min(leftMs, pollMs, dueInMs));
        if (signal.aborted) return [];
        const found = await fetchOnce(consumer, limit);
        if (found.messages.length > 0) return found.messages;
        dueInMs = found.dueInMs;
      }
      return [];
    } finally {
      signal.removeEventListener("abort", bell.ring);
      await listening.close();
    }
  }

  return {
    take,
    renew: async (holder, leases) => {
      const tokens = leases.map(toToken);
      const states = await renewRemote(db(), holder, tokens);
      return tokens.map((token) => states.get(token.message_id) ?? "lost");
    },
    report: (given, tx) =>
      reports.report(
        given.map(({ lease, ...report }) => ({ ...report, lease: toToken(lease) })),
        tx,
      ),
    identify: async (holder, leases) =>
      byLease(leases, await reports.identify(holder, leases.map(toToken))),
    release: async (holder, leases) => {
      const tokens = leases.map(toToken);
      const mine = await keepHeld(db(), holder, tokens);
      const settled = await release(db(), mine);
      const released = new Set(mine.filter((_, index) => settled[index] === "ok"));
      return tokens.map((token) => (released.has(token) ? "ok" : "lost"));
    },
    progress: async (holder, progress) => {
      const tokens = progress.map(({ lease }) => toToken(lease));
      const mine = new Set(await keepHeld(db(), holder, tokens));
      const rows = progress.flatMap(({ percent, message }, index) => {
        const lease = tokens[index];
        return lease !== undefined && mine.has(lease) ? [{ lease, percent, message }] : [];
      });
      if (rows.length > 0) await writeProgress(db(), rows);
    },
    read: async (holder, leases) =>
      byLease(leases, await readRemote(db(), holder, leases.map(toToken))),
    hold: (tx, holder, lease) => holdRemote(tx, holder, toToken(lease)),
  };
}

function toRemote(
  { message_id, deliveries, released, body }: LeasedMessage,
  queue: string,
  leaseMs: number,
): RemoteMessage {
  return {
    lease: `${message_id}.${deliveries}`,
    queue,
    body,
    deliveryCount: deliveries - released,
    isFirst: deliveries === 1,
    leaseMs,
  };
}

function byLease<Task>(leases: readonly string[], tasks: ReadonlyMap<number, Task>) {
  const found = new Map<string, Task>();
  for (const lease of leases) {
    const task = tasks.get(toToken(lease).message_id);
    if (task !== undefined) found.set(lease, task);
  }
  return found;
}

/** A text of another form names no row. */
function toToken(lease: string): LeaseToken {
  const [, id, deliveries] = /^(\d{1,15})\.(\d{1,6})$/.exec(lease) ?? [];
  return { message_id: Number(id ?? -1), deliveries: Number(deliveries ?? -1) };
}

/** A wait that ends early when it is rung, also by a ring that came before it. */
function createBell() {
  let isRung = false;
  let wake: () => void = () => undefined;
  return {
    ring: () => {
      isRung = true;
      wake();
    },
    wait: async (milliseconds: number) => {
      if (!isRung) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, milliseconds);
        });
        clearTimeout(timer);
      }
      isRung = false;
    },
  };
}
