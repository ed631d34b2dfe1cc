import { backoffDelay } from "../../../../core/backoff.ts";
import { queueChannel } from "../../../postgres/channels.ts";
import type { Database } from "../../../postgres/database.ts";
import type { Listen } from "../../../postgres/share-listener.ts";
import { reach } from "../../../runtime/fail-points.ts";
import type { Logger } from "../../../runtime/logger.ts";
import { createService } from "../../../runtime/service.ts";
import type { Transport } from "../../transport.ts";
import { lockRelay, readUnsent, removeSent } from "../sql/carry.ts";
import { makeDueReady } from "../sql/sweep.ts";

export interface RelayOptions {
  readonly db: Database;
  readonly transport: Transport;
  readonly queue: string;
  readonly log: Logger;
}

const batchSize = 500;
/** How soon to look again while the relay of another process is at work. */
const busyMs = 100;
const pollMs = 5000;
const longestPauseMs = 2000;

/**
 * Sends one batch of a queue's ready messages to the outside broker and removes them when the broker
 * has confirmed all of them. A crash in between sends them again, and the second copy gets no lease.
 * Answers in how many milliseconds to look again; undefined: when woken.
 */
export async function relayOnce(options: RelayOptions): Promise<number | undefined> {
  const { db, transport, queue } = options;
  return db.transaction(
    async (tx) => {
      // In one round trip: a message waits for each.
      const [isLocked, { messages, dueInMs }] = await Promise.all([
        lockRelay(tx, queue),
        readUnsent(tx, queue, batchSize),
      ]);
      if (!isLocked) return busyMs;
      if (messages.length > 0) {
        reach("relay.before_send");
        await transport.send(queue, messages);
        reach("relay.after_send");
        removeSent(tx, queue, messages);
      }
      if (dueInMs !== null && dueInMs <= 0) {
        await makeDueReady(tx, queue);
        return 0;
      }
      return messages.length === batchSize ? 0 : (dueInMs ?? undefined);
    },
    // A second attempt would only send twice; the service tries again after a pause.
    { maxAttempts: 1 },
  );
}

/** Relays whenever a message of the queue is published, becomes due or is returned. */
export function startRelay(options: RelayOptions, listen: Listen): { stop(): Promise<void> } {
  const { queue, log } = options;
  let failures = 0;
  const service = createService({
    name: `relay of ${queue}`,
    log,
    intervalMs: pollMs,
    runOnce: async () => {
      try {
        const nextMs = await relayOnce(options);
        failures = 0;
        return nextMs;
      } catch (err) {
        // A broker that is back should not wait for a pause that grew while it was away.
        const pauseMs = backoffDelay(failures++, 100, longestPauseMs);
        log.warn({ err, queue, pauseMs }, "messages wait in the outbox; trying again");
        return pauseMs;
      }
    },
  });
  const listening = listen([queueChannel(queue)], () => {
    service.wake();
  });
  service.start();
  return {
    stop: async () => {
      await listening.close();
      await service.stop();
    },
  };
}
