import { randomUUID } from "node:crypto";
import type { Queryable } from "../../../postgres/queryable.ts";
import { reach } from "../../../runtime/fail-points.ts";
import { createService } from "../../../runtime/service.ts";
import type { Logger } from "../../../runtime/logger.ts";
import type { ArrivedMessage, Transport } from "../../transport.ts";
import { addDeadLetters, addForeignDeadLetter, returnWornOut } from "../sql/carry.ts";
import { createReceiver } from "./receiver.ts";

const batchSize = 50;
/** A slow poll: arrivals wake it. */
const pollMs = 60_000;
/** While it pauses, the outside broker keeps messages whose tasks wait: it must not pause for long. */
const longestPauseMs = 2000;

/**
 * Lists the messages that the outside broker, or a consumer of another program, has given up as dead
 * letters in PostgreSQL, where people see and requeue them, and where their tasks fail.
 */
export function startDeadLetters(options: {
  readonly db: Queryable;
  readonly transport: Transport;
  readonly queue: string;
  readonly log: Logger;
}): { stop(): Promise<void> } {
  const { db, transport, queue, log } = options;

  async function list(message: ArrivedMessage) {
    const { carried, id, body, reason = "DeadLettered" } = message;
    const detail = `${transport.name} or a consumer of another program gave it up.`;
    if (carried === undefined) {
      await addForeignDeadLetter(db, queue, { key: id ?? randomUUID(), body, reason, detail });
    } else if (message.isWornOut) await returnWornOut(db, queue, [carried]);
    else await addDeadLetters(db, queue, [carried], reason, detail);
  }

  let isListing = false;

  async function listAll(arrived: readonly ArrivedMessage[]): Promise<void> {
    for (const [index, message] of arrived.entries()) {
      try {
        await list(message);
      } catch (error) {
        for (const left of arrived.slice(index)) left.giveBack();
        throw error;
      }
      reach("outside.dead_letter_listed");
      message.accept();
    }
  }

  async function runOnce(): Promise<void> {
    isListing = true;
    await listAll(receiver.take(batchSize)).finally(() => {
      isListing = false;
    });
  }

  const service = createService({
    name: `dead letters of ${queue}`,
    log,
    intervalMs: pollMs,
    longestPauseMs,
    runOnce,
  });
  const receiver = createReceiver({
    transport,
    from: { queue, dead: true },
    onArrival: () => {
      service.wake();
    },
    isTaking: () => isListing,
    log,
  });
  service.start();
  return {
    stop: async () => {
      await service.stop();
      await receiver.close();
    },
  };
}
