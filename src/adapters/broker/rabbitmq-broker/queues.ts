import type { ChannelModel } from "amqplib";
import type { Logger } from "../../runtime/logger.ts";

/**
 * Quorum queues have no priorities before RabbitMQ 4, so each queue has one for each band, the
 * highest first. The lowest band has the plain name: consumers of other programs read it.
 */
const bands = [
  { from: 7, suffix: ".high" },
  { from: 4, suffix: ".medium" },
  { from: 0, suffix: "" },
] as const;

/**
 * RabbitMQ counts each return of a message to its queue, also those of a message that no slot was
 * free for, and version 4 gives a message up after 20 unless told otherwise. Deliveries that count are
 * counted with the leases.
 */
const deliveryLimit = 10_000;

export interface BandQueue {
  readonly name: string;
  /** The higher is delivered first. */
  readonly band: number;
}

export function bandQueues(queue: string): readonly BandQueue[] {
  return bands.map(({ from, suffix }) => ({ name: queue + suffix, band: from }));
}

export function queueOf(queue: string, priority: number): string {
  return queue + (bands.find(({ from }) => priority >= from)?.suffix ?? "");
}

export function deadQueue(queue: string): string {
  return `${queue}.dead`;
}

export async function declareQueues(
  connection: ChannelModel,
  queue: string,
  log: Logger,
): Promise<void> {
  await declare(connection, deadQueue(queue), {}, log);
  for (const { name } of bandQueues(queue)) {
    const deadLetters = {
      "x-dead-letter-exchange": "",
      "x-dead-letter-routing-key": deadQueue(queue),
      "x-delivery-limit": deliveryLimit,
    };
    await declare(connection, name, deadLetters, log);
  }
}

const preconditionFailed = 406;

/** A queue that exists with other arguments is used as it is: an operator has chosen them. */
async function declare(
  connection: ChannelModel,
  name: string,
  args: Readonly<Record<string, string | number>>,
  log: Logger,
): Promise<void> {
  // A refused declaration closes its channel.
  const channel = await connection.createChannel();
  channel.on("error", () => undefined);
  try {
    await channel.assertQueue(name, {
      durable: true,
      arguments: { "x-queue-type": "quorum", ...args },
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== preconditionFailed) throw error;
    log.warn({ queue: name, err: error }, "the queue exists with other arguments and is used so");
    return;
  }
  await channel.close();
}
