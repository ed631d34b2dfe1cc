/**
 * One queue, consumed by one process: keeps up to `maxInFlight` handlers running.
 *
 * It fetches when a slot is free and the queue may hold messages. A fetch that brings fewer than
 * asked for has emptied the queue; the next fetch then waits for a notification, the time of a
 * delayed message, or the slow poll.
 *
 * Short tasks are fetched ahead, so that a fetch serves many of them: as many as this process would
 * finish within a moment, judged by how long the last ones took. Long tasks never wait here while
 * another process is idle. A slot is free when its work is over, not when its report is written.
 */
import { backoffDelay } from "../../../../core/backoff.ts";
import type { Logger } from "../../../runtime/logger.ts";
import { timeoutHeader } from "../../broker.ts";
import type { DeliveryHandler, Subscription } from "../../broker.ts";
import { createDelivery } from "./delivery.ts";
import type { DeliveryDependencies, HeldDelivery, ReceivedMessage } from "./delivery.ts";
import { fetchMessages, fetchUnreceived } from "../sql/fetch.ts";
import type { PushClient } from "../push/client.ts";
import type { Renewal } from "./renewal.ts";
import { release } from "../sql/settle.ts";
import { showDue } from "../sql/sweep.ts";

export interface SubscriptionOptions extends DeliveryDependencies {
  readonly queue: string;
  readonly leaseMs: number;
  readonly maxInFlight: number;
  readonly push: PushClient | undefined;
  readonly holder: string;
  readonly renewal: Renewal;
  readonly handler: DeliveryHandler;
  readonly log: Logger;
}

export interface PostgresSubscription extends Subscription {
  /** The queue may hold messages. */
  wake(): void;
}

const maxBatch = 200;
/** ReceivedMessage ahead is what the slots finish within this time. */
const aheadMs = 20;
/** Nothing is fetched ahead before so many handlers were timed. */
const enoughMeasured = 20;
/** Messages that wait longer than this for a slot are released to other consumers. */
const longestAheadMs = 500;
/** Reports that may be on their way before no further task is started. */
const maxSettling = 1000;
const graceAfterTimeoutMs = 30_000;
const longestHoldMs = 6 * 3_600_000;
const defaultGraceMs = 30_000;
const longestPauseMs = 5000;
/** Timers hold 31 bits. A message due later than that is seen by the poll. */
const longestTimerMs = 2_000_000_000;

export function subscribe(options: SubscriptionOptions): PostgresSubscription {
  const { db, queue, leaseMs, renewal, log } = options;
  const running = new Map<HeldDelivery, Promise<void>>();
  const ahead: { readonly one: HeldDelivery; readonly since: number }[] = [];
  /** Handlers that run; those that only settle hold no slot. */
  let working = 0;
  /** The running average of how long handlers take; infinite until enough were timed. */
  let averageMs = Infinity;
  let measured = 0;
  let mayHaveMore = true;
  let pumping: Promise<void> | undefined;
  let closing = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let returnTimer: NodeJS.Timeout | undefined;

  function wake(): void {
    mayHaveMore = true;
    pump();
  }

  /** How many messages could be taken now, to run or to wait for a slot. */
  function room(): number {
    return options.maxInFlight - working + wantedAhead() - ahead.length;
  }

  function wantedAhead(): number {
    return Math.min(maxBatch, Math.floor((options.maxInFlight * aheadMs) / averageMs));
  }

  function pump(): void {
    while (!closing && working < options.maxInFlight && running.size < maxSettling) {
      const next = ahead.shift();
      if (next === undefined) break;
      start(next.one);
    }
    attached?.changed();
    if (closing || pumping !== undefined || !mayHaveMore) return;
    // Short tasks are fetched many at a time; half of the prefetch keeps the slots busy meanwhile.
    if (room() < Math.max(1, wantedAhead() / 2)) return;
    pumping = fill().finally(() => {
      pumping = undefined;
      // Slots may have become free, and messages may have arrived, while it ran.
      pump();
    });
  }

  async function fill(): Promise<void> {
    // One fetch fills all slots that become free in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    const wanted = Math.max(1, Math.min(maxBatch, room()));
    // Must come before the fetch: a wake that arrives while it runs sets the flag again.
    mayHaveMore = false;
    try {
      const { messages, dueInMs } = await fetchMessages(db, queue, wanted, leaseMs, options.holder);
      failures = 0;
      await take(messages);
      if (dueInMs !== null && dueInMs <= 0) {
        await showDue(db, queue);
        mayHaveMore = true;
      } else if (messages.length === wanted) mayHaveMore = true;
      else if (dueInMs !== null) wakeIn(dueInMs);
    } catch (error) {
      const pauseMs = backoffDelay(failures++, 100, longestPauseMs);
      log.warn({ err: error, queue, pauseMs }, "messages could not be fetched; trying again");
      wakeIn(pauseMs);
    }
  }

  function wakeIn(milliseconds: number): void {
    clearTimeout(timer);
    if (!closing) timer = setTimeout(wake, Math.min(milliseconds, longestTimerMs));
  }

  async function take(messages: readonly ReceivedMessage[]): Promise<void> {
    const held = messages.map((message) => hold(message));
    if (messages.length === 0) return;
    if (closing) return releaseAll(held);
    renewal.hold(
      held.map((one) => ({
        ...one.lease,
        lease_ms: leaseMs,
        hold_ms: holdMs(one),
        onEnd: (cause) => {
          one.abort(cause);
        },
      })),
    );
    const since = performance.now();
    ahead.push(...held.map((one) => ({ one, since })));
    watchAhead();
  }

  function watchAhead(): void {
    if (ahead.length > 0) returnTimer ??= setTimeout(() => void releaseWaiting(), longestAheadMs);
  }

  /** Tasks that were short have become long: the waiting messages go back for other consumers. */
  async function releaseWaiting(): Promise<void> {
    returnTimer = undefined;
    const oldest = ahead[0];
    if (oldest !== undefined && performance.now() - oldest.since >= longestAheadMs) {
      averageMs = Infinity;
      measured = 0;
      await dropAhead().catch((err: unknown) => {
        log.warn({ err, queue }, "messages were not released; their leases will expire");
      });
    }
    watchAhead();
  }

  async function dropAhead(): Promise<void> {
    const untouched = ahead.splice(0).map(({ one }) => one);
    for (const one of untouched) renewal.drop(one.lease);
    await releaseAll(untouched);
  }

  function hold(message: ReceivedMessage): HeldDelivery {
    const held = createDelivery(options, queue, message, {
      onSettling: () => {
        leaveSlot(held);
      },
    });
    return held;
  }

  async function reclaim(): Promise<void> {
    const received = [...running.keys(), ...ahead.map(({ one }) => one)];
    const ids = received.map(({ lease }) => lease.message_id);
    const messages = await fetchUnreceived(db, queue, options.holder, ids);
    // A push may have arrived while the query ran.
    const known = new Set([...running.keys()].map(({ lease }) => lease.message_id));
    for (const { one } of ahead) known.add(one.lease.message_id);
    await accept(messages.filter(({ message_id }) => !known.has(message_id)));
  }

  async function accept(messages: readonly ReceivedMessage[]): Promise<void> {
    await take(messages);
    pump();
  }

  const attached = options.push?.attach(queue, {
    room: () => (closing || mayHaveMore || pumping !== undefined ? 0 : Math.max(0, room())),
    take: (messages, pushedBy) => {
      accept(messages.map((message) => ({ ...message, pushedBy }))).catch((err: unknown) => {
        log.warn({ err, queue }, "messages were not released; their leases will expire");
      });
    },
    reclaim,
  });

  const startedAt = new Map<HeldDelivery, number>();

  function start(one: HeldDelivery): void {
    working += 1;
    startedAt.set(one, performance.now());
    running.set(
      one,
      run(one).finally(() => {
        leaveSlot(one);
        renewal.drop(one.lease);
        running.delete(one);
        pump();
      }),
    );
  }

  /** Frees the slot once, when the handler begins to settle or ends without settling. */
  function leaveSlot(one: HeldDelivery): void {
    const start = startedAt.get(one);
    if (start === undefined) return;
    startedAt.delete(one);
    working -= 1;
    const tookMs = Math.max(0.05, performance.now() - start);
    measured += 1;
    if (measured === enoughMeasured) averageMs = tookMs;
    else if (measured > enoughMeasured) averageMs = 0.9 * averageMs + 0.1 * tookMs;
    pump();
  }

  async function run(one: HeldDelivery): Promise<void> {
    const { delivery } = one;
    try {
      try {
        await options.handler(delivery);
        if (!one.isSettled()) await delivery.complete();
      } catch (error) {
        log.warn({ err: error, queue, message: delivery.id }, "a message handler threw");
        const reason = error instanceof Error ? error.message : String(error);
        if (!one.isSettled()) await delivery.retry({ reason });
      }
    } catch (error) {
      log.warn(
        { err: error, queue, message: delivery.id },
        "a message was not settled; its lease will expire",
      );
    }
  }

  async function releaseAll(held: readonly HeldDelivery[]): Promise<void> {
    const open = held.filter((one) => !one.isSettled());
    for (const one of open) one.giveUp();
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
    await attached?.close();
    await pumping;
    clearTimeout(returnTimer);
    await dropAhead();
    for (const one of running.keys()) one.abort("shutdown");
    await within(graceMs, Promise.all(running.values()));
    const left = [...running.keys()];
    await releaseAll(left);
    for (const one of left) renewal.drop(one.lease);
  }

  return { wake, close };
}

function holdMs({ delivery }: HeldDelivery): number {
  const timeout = Object.hasOwn(delivery.headers, timeoutHeader)
    ? Number(delivery.headers[timeoutHeader])
    : NaN;
  return timeout > 0 ? timeout * 1000 + graceAfterTimeoutMs : longestHoldMs;
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
