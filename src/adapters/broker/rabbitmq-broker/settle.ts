import { IllegalOperationError } from "amqplib";
import type { Channel, ConsumeMessage } from "amqplib";
import type { ArrivedMessage } from "../transport.ts";

export interface Settlement {
  /** Must be called for each message of the channel, in the order of their arrival. */
  arrived(message: ConsumeMessage): Pick<ArrivedMessage, "accept" | "giveBack">;
  /** Acknowledges what is accepted now, and not at the end of this turn of the event loop. */
  flush(): void;
}

/**
 * Settles the messages of one channel. Those that are accepted in one turn of the event loop are
 * acknowledged together: one frame acknowledges all messages up to one, where all of them are accepted. A
 * frame for each message costs the client and the broker more than the delivery itself.
 */
export function createSettlement(channel: Channel, isOpen: () => boolean): Settlement {
  /** On a channel that is closed, or about to be, the broker returns what is not settled. */
  function unlessClosed(send: () => void): void {
    if (!isOpen()) return;
    try {
      send();
    } catch (error) {
      if (!(error instanceof IllegalOperationError)) throw error;
    }
  }

  /** In the order of arrival, which is that of their delivery tags. */
  const unsettled = new Set<ConsumeMessage>();
  const accepted = new Set<ConsumeMessage>();

  function flush(): void {
    let last: ConsumeMessage | undefined;
    for (const message of unsettled) {
      if (!accepted.delete(message)) break;
      unsettled.delete(message);
      last = message;
    }
    const single = [...accepted];
    accepted.clear();
    for (const message of single) unsettled.delete(message);
    unlessClosed(() => {
      if (last !== undefined) channel.ack(last, true);
      for (const message of single) channel.ack(message);
    });
  }

  return {
    arrived(message) {
      unsettled.add(message);
      return {
        accept: () => {
          if (!unsettled.has(message)) return;
          if (accepted.size === 0) queueMicrotask(flush);
          accepted.add(message);
        },
        giveBack: () => {
          if (accepted.has(message) || !unsettled.delete(message)) return;
          unlessClosed(() => {
            channel.nack(message, false, true);
          });
        },
      };
    },
    flush,
  };
}
