import type { ConfirmChannel, Message } from "amqplib";
import type { CarriedMessage } from "../transport.ts";
import { envelopeProperty, toEnvelope } from "../transport.ts";
import type { RabbitmqConnection } from "./connection.ts";
import { queueOf } from "./queues.ts";

const confirmTimeoutMs = 15_000;

export interface Sender {
  send(queue: string, messages: readonly CarriedMessage[]): Promise<void>;
}

/** Sends on a channel with confirmations: a confirmed message is on the broker's disk. */
export function createSender(connection: RabbitmqConnection): Sender {
  const channels = new Map<string, ConfirmChannel>();

  /** One channel for each queue: a returned message is then one of the call that waits. */
  async function channelOf(queue: string): Promise<ConfirmChannel> {
    const known = channels.get(queue);
    const model = await connection.open(queue);
    if (known !== undefined) return known;
    const channel = await model.createConfirmChannel();
    channel.on("error", () => undefined);
    channel.on("close", () => {
      if (channels.get(queue) === channel) channels.delete(queue);
    });
    channels.set(queue, channel);
    return channel;
  }

  return {
    async send(queue, messages) {
      const channel = await channelOf(queue);
      const returned: Message[] = [];
      const onReturn = (message: Message) => {
        returned.push(message);
      };
      channel.on("return", onReturn);
      try {
        for (const message of messages) publish(channel, queue, message);
        await within(confirmTimeoutMs, channel.waitForConfirms());
      } catch (error) {
        // Late confirmations must not count for the next call.
        channels.delete(queue);
        channel.close().catch(() => undefined);
        throw error;
      } finally {
        channel.off("return", onReturn);
      }
      if (returned.length === 0) return;
      connection.forgetQueues();
      throw new Error(`RabbitMQ has no queue for messages of "${queue}"; it is declared again.`);
    },
  };
}

function publish(channel: ConfirmChannel, queue: string, message: CarriedMessage): void {
  channel.publish("", queueOf(queue, message.priority), Buffer.from(message.body), {
    persistent: true,
    // Without a queue the message comes back: the broker would confirm and drop it otherwise.
    mandatory: true,
    messageId: message.message_key,
    contentType: "application/json",
    headers: { [envelopeProperty]: toEnvelope(message) },
  });
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`RabbitMQ did not confirm within ${milliseconds / 1000} s.`));
    }, milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
