import { setTimeout as pause } from "node:timers/promises";
import type { Broker, Delivery, Subscription } from "../adapters/broker/broker.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { shareSlots } from "../core/queue-capacity.ts";

export interface ConsumeDependencies {
  readonly broker: Pick<Broker, "consume">;
  readonly queues: readonly string[];
  /** Tasks that run at once, over all queues. */
  readonly concurrency: number;
  /** The handlers whose tasks this worker takes. */
  readonly accepts: () => readonly string[];
  readonly execute: (delivery: Delivery) => Promise<void>;
  readonly log: Logger;
}

export interface Consumption {
  /** The number of running tasks. */
  busy(): number;
  close(options: { graceMs: number }): Promise<void>;
}

const notDeclaredPauseMs = 200;

/** Subscribes to the queues, again and again while no orchestrator has declared a queue. */
export function consume(deps: ConsumeDependencies): Consumption {
  const subscriptions: Subscription[] = [];
  const closing = new AbortController();
  let running = 0;

  async function subscribe(queue: string, maxInFlight: number): Promise<void> {
    const isClosing = () => closing.signal.aborted;
    const options = { maxInFlight, accepts: deps.accepts };
    while (!isClosing()) {
      try {
        const subscription = await deps.broker.consume(queue, options, async (delivery) => {
          running++;
          try {
            await deps.execute(delivery);
          } finally {
            running--;
          }
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
    shareSlots(deps.concurrency, deps.queues).map(([queue, slots]) => subscribe(queue, slots)),
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
