import { setTimeout as pause } from "node:timers/promises";
import type { ServiceBusReceivedMessage, ServiceBusReceiver } from "@azure/service-bus";
import type { Logger } from "../../runtime/logger.ts";
import type {
  ArrivedMessage,
  ConsumerEvents,
  TransportConsumer,
  TransportQueue,
} from "../transport.ts";
import { envelopeProperty, fromEnvelope } from "../transport.ts";
import type { ServiceBusClients } from "./clients.ts";
import { receiverOptions } from "./clients.ts";

/** The client never closes a link that was opened while its connection dropped. */
const longestStopMs = 2000;
/**
 * Such a link gets nothing and says nothing, so one that has got nothing for this time is replaced. On a
 * queue without messages that is a small exchange of frames.
 */
const longestSilenceMs = 10_000;

/** One link to a queue, from `listen` to `mute`, which lives on until its messages are settled. */
interface Link {
  readonly receiver: ServiceBusReceiver;
  readonly stop: () => Promise<void>;
  open: number;
  isMuted: boolean;
}

/**
 * Receives over a new link each time it listens: a link that has had 2,047 messages while one of them
 * was not settled on it gets no more.
 */
export function createConsumer(
  clients: ServiceBusClients,
  { queue, dead }: TransportQueue,
  events: ConsumerEvents,
  onError: (error: unknown) => void,
  log: Logger,
): TransportConsumer {
  let link: Link | undefined;
  let silence: NodeJS.Timeout | undefined;

  function open(window: number): void {
    link = listen(window);
    silence = setTimeout(() => {
      const old = link;
      open(window);
      if (old !== undefined) void end(old);
    }, longestSilenceMs);
  }

  function listen(window: number): Link {
    const receiver = clients.receiving.createReceiver(queue, receiverOptions(dead));
    const subscription = receiver.subscribe(
      {
        // The client asks for the next message when this promise is settled.
        processMessage: (message) =>
          new Promise<void>((resolve) => {
            opened.open += 1;
            silence?.refresh();
            events.onMessage(toArrived(message, dead, settlingOf(opened, message, resolve)));
          }),
        processError: async ({ error }) => {
          onError(error);
        },
      },
      { autoCompleteMessages: false, maxConcurrentCalls: window },
    );
    const opened: Link = { receiver, stop: () => subscription.close(), open: 0, isMuted: false };
    return opened;
  }

  function settlingOf(
    from: Link,
    message: ServiceBusReceivedMessage,
    done: () => void,
  ): Pick<ArrivedMessage, "accept" | "giveBack"> {
    let isSettled = false;
    const settle = (work: () => Promise<void>) => {
      if (isSettled) return;
      isSettled = true;
      void work()
        .catch((err: unknown) => {
          // Its lock runs out, and it comes again: a message that is leased or done is then dropped.
          log.debug({ err, queue, id: message.messageId }, "a message was not settled");
        })
        .finally(() => {
          from.open -= 1;
          done();
          closeWhenDone(from);
        });
    };
    const side = clients.side(queue, dead);
    return {
      accept: () => {
        settle(() =>
          from.receiver.completeMessage(message).catch(() => side.completeMessage(message)),
        );
      },
      // Never over the link: two outcomes in one turn of the event loop go out as the first of them,
      // which would complete a message that is given back.
      giveBack: () => {
        settle(() => side.abandonMessage(message));
      },
    };
  }

  function closeWhenDone(old: Link): void {
    if (!old.isMuted || old.open > 0) return;
    old.receiver.close().catch((err: unknown) => {
      log.debug({ err, queue }, "a link was not closed");
    });
  }

  async function end(old: Link): Promise<void> {
    const limit = new AbortController();
    await Promise.race([old.stop(), pause(longestStopMs, undefined, limit)]).catch(
      (err: unknown) => {
        log.debug({ err, queue }, "a link did not stop");
      },
    );
    limit.abort();
    old.isMuted = true;
    closeWhenDone(old);
  }

  async function mute(): Promise<void> {
    clearTimeout(silence);
    const old = link;
    link = undefined;
    if (old !== undefined) await end(old);
  }

  return {
    async listen(window) {
      await mute();
      open(window);
    },
    mute,
    close: mute,
  };
}

function toArrived(
  message: ServiceBusReceivedMessage,
  dead: boolean,
  settling: Pick<ArrivedMessage, "accept" | "giveBack">,
): ArrivedMessage {
  const body = textOf(message.body);
  return {
    carried: fromEnvelope(message.applicationProperties?.[envelopeProperty], body),
    id: message.messageId === undefined ? undefined : String(message.messageId),
    body,
    band: 0,
    reason: dead ? message.deadLetterReason : undefined,
    isWornOut: dead && message.deadLetterReason === "MaxDeliveryCountExceeded",
    ...settling,
  };
}

/** Other clients send bytes or a text. */
function textOf(body: unknown): string {
  if (typeof body === "string") return body;
  return Buffer.isBuffer(body) ? body.toString("utf8") : JSON.stringify(body);
}
