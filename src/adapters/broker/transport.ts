/**
 * The port to an outside broker, such as RabbitMQ or Azure Service Bus: it carries messages from the
 * tables of the PostgreSQL broker to a consumer, and holds them only while they wait. A consumer
 * leases an arrived message in PostgreSQL and then accepts it, so that running tasks do not depend on
 * the outside broker: it may restart, lose its connections or deliver a message twice meanwhile.
 */
import { z } from "zod";

export interface Transport {
  readonly name: string;
  /** `bands`: messages of higher bands are delivered first, `none`: by age alone. */
  readonly priority: "bands" | "none";
  /** Resolves when the broker has stored every message; a message may be sent although it rejects. */
  send(queue: string, messages: readonly CarriedMessage[]): Promise<void>;
  /** Connects a consumer, which gets nothing before it listens. */
  consume(from: TransportQueue, events: ConsumerEvents): Promise<TransportConsumer>;
  /** Messages that wait in the outside broker. */
  countWaiting(queue: string): Promise<number>;
  status(): TransportStatus;
  close(): Promise<void>;
}

export interface TransportStatus {
  readonly connected: boolean;
  /** Why the last attempt to connect failed; null: it did not. */
  readonly error: string | null;
}

export interface TransportQueue {
  readonly queue: string;
  /** The messages that the outside broker itself has given up. */
  readonly dead: boolean;
}

export interface ConsumerEvents {
  onMessage(message: ArrivedMessage): void;
  /** The connection is gone: the consumer gets nothing more, and what it has not settled comes again. */
  onLost(): void;
}

export interface TransportConsumer {
  /** Gets messages, at most so many that are not settled. */
  listen(window: number): Promise<void>;
  /** Gets nothing until it listens again; messages under way may still arrive. */
  mute(): Promise<void>;
  close(): Promise<void>;
}

export interface ArrivedMessage {
  /** Undefined: another program sent it. */
  readonly carried: CarriedMessage | undefined;
  /** The sender's id, where it gave one. */
  readonly id: string | undefined;
  readonly body: string;
  readonly band: number;
  /** Why the outside broker gave it up, for messages of a dead queue. */
  readonly reason: string | undefined;
  /** Only because it was returned more often than the outside broker allows. */
  readonly isWornOut: boolean;
  /** Removes it from the outside broker. Without an effect after a lost connection. */
  accept(): void;
  /** Returns it to the outside broker at once. */
  giveBack(): void;
}

/** What a message needs for its lease in PostgreSQL. */
export interface CarriedMessage {
  readonly message_id: number;
  readonly priority: number;
  readonly deliveries: number;
  readonly released: number;
  readonly lost: number;
  readonly message_key: string;
  readonly group_key: string | null;
  readonly headers: Readonly<Record<string, string | number | boolean>> | null;
  readonly body: string;
  readonly enqueued_at: string;
  /**
   * Names the row of the outbox. A row that is sent twice, because its relay died, keeps its name; a message
   * that returns to the outbox gets another. Absent in messages of earlier versions.
   */
  readonly sending?: string | undefined;
}

/** The name of the property that carries everything of a message but its body. */
export const envelopeProperty = "rmhdag";

const natural = z.number().int().min(0);
const envelope = z.object({
  message_id: natural,
  priority: natural.max(10),
  deliveries: natural,
  released: natural,
  lost: natural,
  message_key: z.string(),
  group_key: z.string().nullable(),
  headers: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .readonly()
    .nullable(),
  enqueued_at: z.string(),
  sending: z.string().optional(),
});

export function toEnvelope(message: CarriedMessage): string {
  const { message_id, priority, deliveries, released, lost, message_key, group_key } = message;
  const { headers, enqueued_at, sending } = message;
  const rest: z.infer<typeof envelope> = {
    message_id,
    priority,
    deliveries,
    released,
    lost,
    message_key,
    group_key,
    headers,
    enqueued_at,
    sending,
  };
  return JSON.stringify(rest);
}

/** The same for each copy of one sending, and another for the next sending of the message. */
export function sendingOf({ message_id, deliveries, sending }: CarriedMessage): string {
  return `${message_id}.${deliveries}.${sending ?? ""}`;
}

/** Answers undefined for a message that another program sent. */
export function fromEnvelope(text: unknown, body: string): CarriedMessage | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const { data } = envelope.safeParse(JSON.parse(text));
    return data && { ...data, body };
  } catch {
    return undefined;
  }
}
