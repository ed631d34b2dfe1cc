/** Carries messages over Azure Service Bus. Its queues are made by an administrator, not by us. */
import type { ServiceBusMessage, ServiceBusSender } from "@azure/service-bus";
import Long from "long";
import type { Logger } from "../../runtime/logger.ts";
import type { CarriedMessage, Transport } from "../transport.ts";
import { envelopeProperty, sendingOf, toEnvelope } from "../transport.ts";
import type { ServiceBusAccess, ServiceBusClients } from "./clients.ts";
import { openClients } from "./clients.ts";
import { createConsumer } from "./consume.ts";

export interface ServiceBusOptions {
  readonly access: ServiceBusAccess;
  readonly log: Logger;
}

/** Counting looks at the messages themselves, so that it needs no right to manage the namespace. */
const mostCounted = 1000;
const peekedAtOnce = 250;

export async function createServiceBusTransport(options: ServiceBusOptions): Promise<Transport> {
  const { access, log } = options;
  const clients = await openClients(access);
  const senders = new Map<string, ServiceBusSender>();
  let isConnected = false;
  let lastError: string | null = null;

  function failed(error: unknown): void {
    isConnected = false;
    lastError = error instanceof Error ? error.message : String(error);
  }

  async function tracked<T>(call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      isConnected = true;
      lastError = null;
      return answer;
    } catch (error) {
      failed(error);
      throw error;
    }
  }

  function senderOf(queue: string): ServiceBusSender {
    const sender = senders.get(queue) ?? clients.sending.createSender(queue);
    senders.set(queue, sender);
    return sender;
  }

  return {
    name: "servicebus",
    priority: "none",
    send: (queue, messages) => tracked(() => sendAll(senderOf(queue), messages)),
    consume: async (from, events) => createConsumer(clients, from, events, failed, log),
    countWaiting: (queue) => tracked(() => count(clients, queue)),
    status: () => ({ connected: isConnected, error: lastError }),
    close: () => clients.close(),
  };
}

/** In as few batches as the link's limit of bytes allows. */
async function sendAll(
  sender: ServiceBusSender,
  messages: readonly CarriedMessage[],
): Promise<void> {
  let batch = await sender.createMessageBatch();
  for (const message of messages.map(toServiceBus)) {
    if (batch.tryAddMessage(message)) continue;
    if (batch.count > 0) await sender.sendMessages(batch);
    batch = await sender.createMessageBatch();
    // Larger than a batch: the service itself says so.
    if (!batch.tryAddMessage(message)) await sender.sendMessages(message);
  }
  if (batch.count > 0) await sender.sendMessages(batch);
}

function toServiceBus(message: CarriedMessage): ServiceBusMessage {
  return {
    // Bytes: a text would be sent as a text in JSON.
    body: Buffer.from(message.body),
    contentType: "application/json",
    // Names this sending, not the task: a queue that removes duplicates removes what a relay sent
    // twice, and lets a retry pass.
    messageId: sendingOf(message),
    subject: message.message_key,
    applicationProperties: { [envelopeProperty]: toEnvelope(message) },
  };
}

async function count(clients: ServiceBusClients, queue: string): Promise<number> {
  const side = clients.side(queue, false);
  let found = 0;
  for (let from = Long.ZERO; found < mostCounted;) {
    const peeked = await side.peekMessages(peekedAtOnce, { fromSequenceNumber: from });
    found += peeked.length;
    const last = peeked.at(-1)?.sequenceNumber;
    if (last === undefined) break;
    from = last.add(1);
  }
  return found;
}
