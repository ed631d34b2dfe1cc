/**
 * Consumes one queue: keeps up to `maxInFlight` handlers running.
 *
 * A subscription fetches when a slot is free and the queue may hold messages. A fetch that answers
 * fewer messages than its limit has emptied the queue; the next fetch then waits for a notification,
 * the time of a delayed message, or the slow poll.
 *
 * Short tasks are prefetched, so that one fetch serves many: as many as this process finishes within
 * `prefetchMs`, judged by how long the last ones took. Long tasks are never prefetched, so that they
 * do not wait here while another process is idle. A slot is free when its handler has finished, not
 * when its report is written.
 *
 * Suspects run one by one while nothing else does (isolation.ts).
 */
import { backoffDelay } from "../../../../core/backoff.ts";
import type { Logger } from "../../../runtime/logger.ts";
import type { DeliveryHandler, Subscription } from "../../broker.ts";
import { HeldDelivery } from "./delivery.ts";
import type { DeliveryDependencies, ReceivedMessage } from "./delivery.ts";
import type { Isolation } from "./isolation.ts";
import type { FetchOptions, FetchResult } from "../sql/fetch.ts";
import { fetchSuspect, fetchUnreceived } from "../sql/fetch.ts";
import type { PushClient } from "../push/client.ts";
import type { Renewal } from "./renewal.ts";
import { release } from "../sql/settle.ts";
import { makeDueReady } from "../sql/sweep.ts";

export interface SubscriptionOptions extends DeliveryDependencies {
  readonly queue: string;
  readonly leaseMs: number;
  readonly maxInFlight: number;
  readonly accepts: (() => readonly string[]) | undefined;
  readonly push: PushClient | undefined;
  readonly holder: string;
  readonly renewal: Renewal;
  readonly isolation: Isolation;
  /** Leases messages: of the ready table, or of those that an outside broker has delivered. */
  readonly fetch: (limit: number, options: FetchOptions) => Promise<FetchResult>;
  readonly handler: DeliveryHandler;
  readonly log: Logger;
}

export interface PostgresSubscription extends Subscription {
  /** Fetches when a slot is free: the queue may hold messages. */
  wake(): void;
}

const maxBatch = 200;
/** A batch to run and one to fetch meanwhile. */
const maxPrefetched = 2 * maxBatch;
/** As many messages are prefetched as the slots finish within this time. */
const prefetchMs = 20;
/** Nothing is prefetched before so many handlers were timed. */
const enoughMeasured = 20;
/** Messages that wait longer than this for a slot are released to other consumers. */
const longestWaitMs = 500;
/** No task is started while so many deliveries run or settle. */
const maxSettling = 2000;
const defaultGraceMs = 30_000;
const longestPauseMs = 5000;
const suspectsPauseMs = 1000;
/** Timers hold 31 bits. The poll finds messages that are due later. */
const longestTimerMs = 2_000_000_000;

export function subscribe(options: SubscriptionOptions): PostgresSubscription {
  const { db, queue, leaseMs, renewal, isolation, log } = options;
  /** Deliveries whose handler runs, or whose report is on its way. */
  const running = new Set<HeldDelivery>();
  const prefetched: HeldDelivery[] = [];
  /** Called when nothing runs any more. */
  let onIdle: (() => void) | undefined;
  /** Handlers that occupy a slot; a delivery that only settles occupies none. */
  let working = 0;
  /** The running average of how long handlers take; infinite until enough were timed. */
  let averageMs = Infinity;
  let measured = 0;
  let mayHaveMore = true;
  /** The first fetch looks for suspects first: this process may replace one that died. */
  let suspectMs: number | null = 0;
  let pumping: Promise<void> | undefined;
  let closing = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let releaseTimer: NodeJS.Timeout | undefined;

  function fetchOptions(): FetchOptions {
    return { leaseMs, holder: options.holder, accepts: options.accepts?.() };
  }

  function wake(): void {
    mayHaveMore = true;
    pump();
  }

  /** How many more messages can be accepted, to run or to wait for a slot. */
  function room(): number {
    return options.maxInFlight - working + prefetchLimit() - prefetched.length;
  }

  function prefetchLimit(): number {
    return Math.min(maxPrefetched, Math.floor((options.maxInFlight * prefetchMs) / averageMs));
  }

  function pump(): void {
    while (mayStart() && working < options.maxInFlight && running.size < maxSettling) {
      const next = prefetched.shift();
      if (next === undefined) break;
      void start(next);
    }
    pushes?.changed();
    isolation.advance();
    if (pumping !== undefined || !mustFetch()) return;
    pumping = fetchAll().finally(() => {
      pumping = undefined;
      // Slots may have become free, and messages may have arrived, during the fetch.
      pump();
    });
  }

  /** Short tasks are fetched many at a time; half of the prefetch keeps the slots busy meanwhile. */
  function mustFetch(): boolean {
    return mayStart() && mayHaveMore && room() >= Math.max(1, prefetchLimit() / 2);
  }

  async function fetchAll(): Promise<void> {
    // One fetch fills all slots that become free in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    do await fetch();
    while (mustFetch());
  }

  const isClosing = () => closing;

  function mayStart(): boolean {
    return !closing && !isolation.isClosed();
  }

  async function fetch(): Promise<void> {
    const wanted = Math.max(1, Math.min(maxBatch, room()));
    if (suspectMs !== null) {
      isolation.request(suspectMs, runSuspects);
      suspectMs = null;
      if (isolation.isClosed()) return;
    }
    // Must come before the fetch: a wake during the fetch sets the flag again.
    mayHaveMore = false;
    try {
      const fetched = await options.fetch(wanted, fetchOptions());
      const { messages, dueInMs } = fetched;
      failures = 0;
      await take(messages);
      if (fetched.suspectMs !== null) isolation.request(fetched.suspectMs, runSuspects);
      if (dueInMs !== null && dueInMs <= 0) {
        await makeDueReady(db, queue);
        mayHaveMore = true;
      } else if (messages.length === wanted) mayHaveMore = true;
      else if (dueInMs !== null) wakeIn(dueInMs);
      // In the next turn, because short tasks run to their end before anything else: the next fetch
      // must have left by then, so that the database works while they run.
      if (messages.length > 0) setImmediate(pump);
    } catch (error) {
      const pauseMs = backoffDelay(failures++, 100, longestPauseMs);
      log.warn({ err: error, queue, pauseMs }, "messages could not be fetched; trying again");
      wakeIn(pauseMs);
    }
  }

  async function runSuspects(): Promise<void> {
    try {
      while (!isClosing()) {
        const message = await fetchSuspect(db, queue, fetchOptions());
        if (message === undefined) return;
        const held = hold(message);
        if (isClosing()) {
          await releaseAll([held]);
          return;
        }
        log.info(
          { queue, message: message.message_key },
          "running a message alone, because its worker died or was cut off",
        );
        renewal.hold([held], leaseMs);
        await start(held);
      }
    } catch (err) {
      log.warn({ err, queue }, "suspects could not be fetched; trying again");
      await new Promise((resolve) => setTimeout(resolve, suspectsPauseMs));
    }
  }

  function wakeIn(milliseconds: number): void {
    clearTimeout(timer);
    if (!closing) timer = setTimeout(wake, Math.min(milliseconds, longestTimerMs));
  }

  async function take(messages: readonly ReceivedMessage[]): Promise<void> {
    const deliveries = messages.map((message) => hold(message));
    if (messages.length === 0) return;
    if (closing) return releaseAll(deliveries);
    renewal.hold(deliveries, leaseMs);
    const now = performance.now();
    for (const held of deliveries) {
      held.takenAt = now;
      prefetched.push(held);
    }
    scheduleRelease();
  }

  function scheduleRelease(): void {
    if (prefetched.length > 0) {
      releaseTimer ??= setTimeout(() => void releaseWaiting(), longestWaitMs);
    }
  }

  /** Releases prefetched messages to other consumers when tasks that were short have become long. */
  async function releaseWaiting(): Promise<void> {
    releaseTimer = undefined;
    const oldest = prefetched[0];
    if (oldest !== undefined && performance.now() - oldest.takenAt >= longestWaitMs) {
      averageMs = Infinity;
      measured = 0;
      await releasePrefetched().catch((err: unknown) => {
        log.warn({ err, queue }, "messages were not released; their leases will expire");
      });
    }
    scheduleRelease();
    isolation.advance();
  }

  async function releasePrefetched(): Promise<void> {
    const untouched = prefetched.splice(0);
    for (const held of untouched) renewal.drop(held);
    await releaseAll(untouched);
  }

  function hold(message: ReceivedMessage): HeldDelivery {
    return new HeldDelivery(options, queue, message, freeSlot);
  }

  /** Takes messages that were leased to this process by a push that did not arrive. */
  async function reclaim(): Promise<void> {
    const messages = await fetchUnreceived(db, queue, options.holder, receivedIds());
    // Asked again: a push may have arrived during the query.
    const received = new Set(receivedIds());
    await accept(messages.filter(({ message_id }) => !received.has(message_id)));
  }

  function receivedIds(): number[] {
    return [...running, ...prefetched].map(({ lease }) => lease.message_id);
  }

  async function accept(messages: readonly ReceivedMessage[]): Promise<void> {
    await take(messages);
    pump();
  }

  const pushes = options.push?.attach(queue, {
    room: () => (!mayStart() || mayHaveMore || pumping !== undefined ? 0 : Math.max(0, room())),
    take: (messages, pushedBy) => {
      accept(messages.map((message) => ({ ...message, pushedBy }))).catch((err: unknown) => {
        log.warn({ err, queue }, "messages were not released; their leases will expire");
      });
    },
    reclaim,
  });

  const member = { isIdle: () => running.size === 0 && prefetched.length === 0, wake };
  isolation.join(member);

  async function start(held: HeldDelivery): Promise<void> {
    working += 1;
    held.startedAt = performance.now();
    running.add(held);
    try {
      await options.handler(held);
      if (!held.isSettled()) await held.complete();
    } catch (error) {
      await retryThrown(held, error);
    }
    freeSlot(held);
    renewal.drop(held);
    running.delete(held);
    if (running.size === 0) onIdle?.();
    pump();
  }

  /** Frees the slot once, when the handler begins to settle or ends without settling. */
  function freeSlot(held: HeldDelivery): void {
    const { startedAt } = held;
    if (startedAt === undefined) return;
    held.startedAt = undefined;
    working -= 1;
    const tookMs = Math.max(0.05, performance.now() - startedAt);
    measured += 1;
    if (measured === enoughMeasured) averageMs = tookMs;
    else if (measured > enoughMeasured) averageMs = 0.9 * averageMs + 0.1 * tookMs;
    pump();
  }

  async function retryThrown(held: HeldDelivery, error: unknown): Promise<void> {
    log.warn({ err: error, queue, message: held.id }, "a message handler threw");
    try {
      const reason = error instanceof Error ? error.message : String(error);
      if (!held.isSettled()) await held.retry({ reason });
    } catch (err) {
      log.warn(
        { err, queue, message: held.id },
        "a message was not settled; its lease will expire",
      );
    }
  }

  async function releaseAll(deliveries: readonly HeldDelivery[]): Promise<void> {
    const open = deliveries.filter((held) => !held.isSettled());
    for (const held of open) held.giveUp();
    if (open.length > 0)
      await release(
        db,
        open.map(({ lease }) => lease),
      );
  }

  async function close({ graceMs = defaultGraceMs }: { graceMs?: number } = {}): Promise<void> {
    if (closing) return;
    closing = true;
    clearTimeout(timer);
    await pushes?.close();
    await pumping;
    clearTimeout(releaseTimer);
    await releasePrefetched();
    for (const held of running) held.abort("shutdown");
    if (running.size > 0) {
      await waitAtMost(graceMs, new Promise<void>((resolve) => (onIdle = resolve)));
    }
    const unfinished = [...running];
    await releaseAll(unfinished);
    for (const held of unfinished) renewal.drop(held);
    isolation.leave(member);
  }

  return { wake, close };
}

async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
