/** Carries messages over RabbitMQ: quorum queues, confirmed publishing, one queue for each band. */
import type { Channel, ConsumeMessage } from "amqplib";
import type { ArrivedMessage, ConsumerEvents, Transport, TransportConsumer } from "../transport.ts";
import { envelopeProperty, fromEnvelope } from "../transport.ts";
import type { RabbitmqConnection, RabbitmqOptions } from "./connection.ts";
import { createConnection } from "./connection.ts";
import type { BandQueue } from "./queues.ts";
import { bandQueues, deadQueue } from "./queues.ts";
import { createSender } from "./send.ts";
import { createSettlement } from "./settle.ts";

/** With one message of each band at hand, the bands would take turns. */
const fewest = 4;

export function createRabbitmqTransport(options: RabbitmqOptions): Transport {
  const connection = createConnection(options);
  const sender = createSender(connection);
  let counting: Promise<Channel> | undefined;

  /** One channel serves all counts; a count that fails closes it. */
  function countingChannel(queue: string): Promise<Channel> {
    counting ??= connection.openChannel(queue, () => {
      counting = undefined;
    });
    counting.catch(() => {
      counting = undefined;
    });
    return counting;
  }

  return {
    name: "rabbitmq",
    priority: "bands",
    send: (queue, messages) => sender.send(queue, messages),
    consume: ({ queue, dead }, events) =>
      openConsumer(
        connection,
        queue,
        dead ? [{ name: deadQueue(queue), band: 0 }] : bandQueues(queue),
        events,
      ),
    async countWaiting(queue) {
      await connection.open(queue);
      const channel = await countingChannel(queue);
      const answers = await Promise.all(
        bandQueues(queue).map(({ name }) => channel.checkQueue(name)),
      );
      return answers.reduce((sum, { messageCount }) => sum + messageCount, 0);
    },
    status: () => connection.status(),
    close: () => connection.close(),
  };
}

async function openConsumer(
  connection: RabbitmqConnection,
  queue: string,
  queues: readonly BandQueue[],
  events: ConsumerEvents,
): Promise<TransportConsumer> {
  let isOpen = true;
  const tags = new Set<string>();
  const channel = await connection.openChannel(queue, () => {
    if (!isOpen) return;
    isOpen = false;
    events.onLost();
  });

  const settlement = createSettlement(channel, () => isOpen);

  function onMessage(message: ConsumeMessage | null, band: number): void {
    if (message === null) {
      // The queue was deleted: the consumer begins again, and declares it.
      connection.forgetQueues();
      channel.close().catch(() => undefined);
      return;
    }
    events.onMessage(toArrived(message, band, settlement.arrived(message)));
  }

  return {
    async listen(window) {
      await channel.prefetch(Math.max(window, fewest));
      for (const { name, band } of queues) {
        const { consumerTag } = await channel.consume(name, (message) => {
          onMessage(message, band);
        });
        tags.add(consumerTag);
      }
    },
    async mute() {
      const cancelled = [...tags];
      tags.clear();
      for (const tag of cancelled) await channel.cancel(tag);
    },
    async close() {
      if (!isOpen) return;
      settlement.flush();
      isOpen = false;
      await channel.close();
    },
  };
}

function toArrived(
  { content, properties }: ConsumeMessage,
  band: number,
  settling: Pick<ArrivedMessage, "accept" | "giveBack">,
): ArrivedMessage {
  const body = content.toString("utf8");
  const headers: Readonly<Record<string, unknown>> = properties.headers ?? {};
  const id = typeof properties.messageId === "string" ? properties.messageId : undefined;
  const reason = headers["x-first-death-reason"];
  return {
    carried: fromEnvelope(headers[envelopeProperty], body),
    id,
    body,
    band,
    reason: typeof reason === "string" ? reason : undefined,
    isWornOut: reason === "delivery_limit",
    ...settling,
  };
}
