/**
 * One queue, consumed by one process: keeps up to `maxInFlight` handlers running.
 *
 * It asks for messages when a slot is free and there may be some. A fetch that brings fewer than
 * asked for has emptied the queue; from then on nothing is asked until somebody says that there is
 * more: a notification, the time of a delayed message, or the slow poll.
 */
import type { Logger } from "../../runtime/logger.ts";
import { timeoutHeader } from "../broker.ts";
import type { DeliveryHandler, Subscription } from "../broker.ts";
import { createDelivery } from "./delivery.ts";
import type { DeliveryDependencies, HeldDelivery } from "./delivery.ts";
import { fetchMessages } from "./fetch.ts";
import type { Fetched } from "./fetch.ts";
import type { Renewal } from "./renewal.ts";
import { release } from "./settle.ts";
import { showDue } from "./sweep.ts";

export interface SubscriptionOptions extends DeliveryDependencies {
  readonly queue: string;
  readonly leaseMs: number;
  readonly maxInFlight: number;
  readonly holder: string;
  readonly renewal: Renewal;
  readonly handler: DeliveryHandler;
  readonly log: Logger;
}

export interface PostgresSubscription extends Subscription {
  /** There may be something to fetch. */
  wake(): void;
}

/** More at once only makes a message wait in this process while another one is idle. */
const maxBatch = 100;
const graceAfterTimeoutMs = 30_000;
const longestHoldMs = 6 * 3_600_000;
const defaultGraceMs = 30_000;
const longestPauseMs = 5000;
/** Timers hold 31 bits. A message due later than that is seen by the poll. */
const longestTimerMs = 2_000_000_000;

export function subscribe(options: SubscriptionOptions): PostgresSubscription {
  const { db, queue, leaseMs, renewal, log } = options;
  const running = new Map<HeldDelivery, Promise<void>>();
  let mayHaveMore = true;
  let pumping: Promise<void> | undefined;
  let closing = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;

  function wake(): void {
    mayHaveMore = true;
    pump();
  }

  function pump(): void {
    if (closing || pumping !== undefined || !mayHaveMore) return;
    if (running.size >= options.maxInFlight) return;
    pumping = fill().finally(() => {
      pumping = undefined;
      // Whatever ended or arrived meanwhile.
      pump();
    });
  }

  async function fill(): Promise<void> {
    // The end of this turn: slots that become free together are filled by one fetch.
    await new Promise((resolve) => setImmediate(resolve));
    const free = Math.min(maxBatch, options.maxInFlight - running.size);
    // Before the fetch: a wake that comes while it runs must not be lost.
    mayHaveMore = false;
    try {
      const { messages, dueInMs } = await fetchMessages(db, queue, free, leaseMs, options.holder);
      failures = 0;
      if (messages.length > 0) await take(messages);
      if (dueInMs !== null && dueInMs <= 0) {
        await showDue(db, queue);
        mayHaveMore = true;
      } else if (messages.length === free) mayHaveMore = true;
      else if (dueInMs !== null) wakeIn(dueInMs);
    } catch (error) {
      const pauseMs = Math.min(longestPauseMs, 100 * 2 ** failures++);
      log.warn({ err: error, queue, pauseMs }, "messages could not be fetched; trying again");
      wakeIn(pauseMs);
    }
  }

  function wakeIn(milliseconds: number): void {
    clearTimeout(timer);
    if (!closing) timer = setTimeout(wake, Math.min(milliseconds, longestTimerMs));
  }

  async function take(messages: readonly Fetched[]): Promise<void> {
    const held = messages.map((message) => createDelivery(options, queue, message));
    if (closing) return giveBack(held);
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
    for (const one of held) {
      running.set(
        one,
        run(one).finally(() => {
          renewal.drop(one.lease);
          running.delete(one);
          pump();
        }),
      );
    }
  }

  async function run(one: HeldDelivery): Promise<void> {
    const { delivery } = one;
    try {
      try {
        await options.handler(delivery);
        if (!one.isSettled()) await delivery.complete();
      } catch (error) {
        log.warn({ err: error, queue, message: delivery.id }, "a handler of messages failed");
        const reason = error instanceof Error ? error.message : String(error);
        if (!one.isSettled()) await delivery.retry({ reason });
      }
    } catch (error) {
      log.warn({ err: error, queue, message: delivery.id }, "not settled: its lease will run out");
    }
  }

  async function giveBack(held: readonly HeldDelivery[]): Promise<void> {
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
    await pumping;
    for (const one of running.keys()) one.abort("shutdown");
    await within(graceMs, Promise.all(running.values()));
    const left = [...running.keys()];
    await giveBack(left);
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
