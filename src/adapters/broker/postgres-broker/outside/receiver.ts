import { setTimeout as pause } from "node:timers/promises";
import { backoffDelay } from "../../../../core/backoff.ts";
import type { Logger } from "../../../runtime/logger.ts";
import type {
  ArrivedMessage,
  Transport,
  TransportConsumer,
  TransportQueue,
} from "../../transport.ts";

export interface Receiver {
  /** Takes messages that have arrived, those of higher bands first, and listens for more. */
  take(limit: number): readonly ArrivedMessage[];
  /** How many messages have arrived and were not taken. */
  waiting(): number;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  readonly transport: Transport;
  readonly from: TransportQueue;
  /** Called for each message: `take` has something. */
  readonly onArrival: () => void;
  /** The messages of the last `take` are not settled: the next one may follow. */
  readonly isTaking: () => boolean;
  readonly log: Logger;
}

/** A consumer that takes nothing for this time is full: what waits goes back, for one with a free slot. */
const fullAfterMs = 50;
/** No message waits longer, also where its consumer takes one now and then. */
const longestWaitMs = 500;
const largestWindow = 400;
const longestPauseMs = 2000;

/**
 * Listens to one queue of an outside broker while its messages are taken. A consumer whose slots are
 * full takes nothing, so its receiver is mute, and its connection lost or not, until the next `take`.
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { transport, from, onArrival, isTaking, log } = options;
  const arrived: { readonly message: ArrivedMessage; readonly since: number }[] = [];
  const closing = new AbortController();
  let consumer: TransportConsumer | undefined;
  /** How many unsettled messages the outside broker lets us have; 0: it sends none. */
  let window = 0;
  let wanted = 0;
  let changing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastTaken = 0;

  const isClosed = () => closing.signal.aborted;

  function change(): void {
    if (isClosed()) return;
    changing ??= adjust().finally(() => {
      changing = undefined;
      if (window !== wanted) change();
    });
  }

  async function adjust(): Promise<void> {
    for (let failures = 0; window !== wanted && !isClosed();) {
      try {
        consumer ??= await connect();
        const next = wanted;
        if (window > 0) await consumer.mute();
        window = 0;
        if (next > 0) await consumer.listen(next);
        window = next;
        failures = 0;
      } catch (err) {
        window = 0;
        await consumer?.close().catch(() => undefined);
        consumer = undefined;
        const pauseMs = backoffDelay(failures++, 100, longestPauseMs);
        log.warn({ err, ...from, pauseMs }, `${transport.name} cannot be consumed; trying again`);
        await pause(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  async function connect(): Promise<TransportConsumer> {
    let isCurrent = true;
    const made = await transport.consume(from, {
      onMessage: (message) => {
        if (isCurrent) accept(message);
      },
      onLost: () => {
        isCurrent = false;
        if (consumer !== made) return;
        consumer = undefined;
        window = 0;
        arrived.length = 0;
        change();
      },
    });
    return made;
  }

  function accept(message: ArrivedMessage): void {
    if (wanted === 0 || isClosed()) {
      message.giveBack();
      return;
    }
    arrived.push({ message, since: performance.now() });
    timer ??= setTimeout(giveBackOld, fullAfterMs);
    onArrival();
  }

  function giveBackOld(): void {
    timer = undefined;
    const [oldest] = arrived;
    if (oldest === undefined) return;
    const now = performance.now();
    const takenAt = isTaking() ? now : lastTaken;
    const fullAt = Math.max(takenAt, oldest.since) + fullAfterMs;
    const leftMs = Math.min(fullAt, oldest.since + longestWaitMs) - now;
    if (leftMs > 0) timer = setTimeout(giveBackOld, leftMs);
    else mute();
  }

  function mute(): void {
    wanted = 0;
    change();
    for (const { message } of arrived.splice(0)) message.giveBack();
  }

  return {
    take(limit) {
      lastTaken = performance.now();
      // Twice the limit: the next messages arrive while these are leased.
      const enough = Math.min(largestWindow, 2 * Math.max(1, limit));
      if (wanted === 0 || enough >= 2 * wanted) {
        wanted = enough;
        change();
      }
      const taken = arrived
        .toSorted((a, b) => b.message.band - a.message.band || a.since - b.since)
        .slice(0, limit);
      for (const one of taken) arrived.splice(arrived.indexOf(one), 1);
      return taken.map(({ message }) => message);
    },
    waiting: () => arrived.length,
    async close() {
      if (isClosed()) return;
      clearTimeout(timer);
      mute();
      closing.abort();
      await changing;
      await consumer?.close().catch((err: unknown) => {
        log.debug({ err, ...from }, "a consumer was not closed");
      });
    },
  };
}
