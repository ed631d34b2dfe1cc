import { setTimeout as pause } from "node:timers/promises";
import type { Broker, Delivery, Subscription } from "../adapters/broker/broker.ts";
import type { Logger } from "../adapters/runtime/logger.ts";

export interface ConsumeDependencies {
  readonly broker: Broker;
  readonly queues: readonly string[];
  /** Tasks that run at once, over all queues. */
  readonly concurrency: number;
  readonly execute: (delivery: Delivery) => Promise<void>;
  readonly log: Logger;
}

export interface Consumption {
  /** The number of running tasks. */
  busy(): number;
  close(options: { graceMs: number }): Promise<void>;
}

const notDeclaredPauseMs = 1000;

/** Subscribes to the queues, again every second while no orchestrator has declared a queue. */
export function consume(deps: ConsumeDependencies): Consumption {
  const subscriptions: Subscription[] = [];
  const closing = new AbortController();
  let running = 0;

  async function subscribe(queue: string, maxInFlight: number): Promise<void> {
    const isClosing = () => closing.signal.aborted;
    while (!isClosing()) {
      try {
        const subscription = await deps.broker.consume(queue, { maxInFlight }, async (delivery) => {
          running++;
          await deps.execute(delivery).finally(() => running--);
        });
        subscriptions.push(subscription);
        deps.log.info({ queue, maxInFlight }, "consuming");
        return;
      } catch (err) {
        deps.log.warn({ err, queue }, "cannot consume yet; trying again");
        await pause(notDeclaredPauseMs, undefined, { signal: closing.signal }).catch(
          () => undefined,
        );
      }
    }
  }

  const started = Promise.all(
    share(deps.concurrency, deps.queues).map(([queue, slots]) => subscribe(queue, slots)),
  );
  return {
    busy: () => running,
    async close(options) {
      closing.abort();
      await started;
      await Promise.all(subscriptions.map((subscription) => subscription.close(options)));
    },
  };
}

/** Divides the slots among the queues, at least one each: a long queue must not starve a short one. */
export function share(
  concurrency: number,
  queues: readonly string[],
): readonly (readonly [string, number])[] {
  const part = Math.floor(concurrency / queues.length);
  const rest = concurrency % queues.length;
  return queues.map((queue, index) => [queue, Math.max(1, part + (index < rest ? 1 : 0))]);
}
