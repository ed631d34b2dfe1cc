import type { HandedMessage } from "../../core/link.ts";
import type { Transaction } from "../postgres/queryable.ts";

/**
 * The port. At least once: a delivery may come twice (a lost answer, an expired lease), never not
 * at all. PostgreSQL holds the truth and a message is only a hint to work, so duplicates are
 * harmless; roughly by priority, then by age, is all the order there is.
 */
export interface Broker {
  readonly capabilities: BrokerCapabilities;
  ensureQueue(queue: string, spec: QueueSpec): Promise<void>;
  /** Resolves when every message is safe. With `tx` they appear when that transaction commits. */
  publish(
    queue: string,
    messages: readonly OutMessage[],
    options?: { tx?: Transaction },
  ): Promise<void>;
  /**
   * Present where messages can go to consumers directly: they are leased to these holders from the
   * start, one each, and whoever publishes hands them over when the transaction is committed.
   */
  publishHeld?(
    queue: string,
    messages: readonly OutMessage[],
    holders: readonly string[],
    options: { tx: Transaction },
  ): Promise<readonly HandedMessage[]>;
  /**
   * Takes back what belongs to these groups (jobs): waiting messages are removed, and the signal of
   * a running handler is aborted with `cancelled`. Effective when the transaction commits. Check
   * `capabilities.withdraw` first: a broker that cannot, throws.
   */
  withdraw(groups: readonly string[], options: { tx: Transaction }): Promise<void>;
  /**
   * Leases are renewed while the handler runs. A handler that throws means `retry()`, one that
   * returns without settling means `complete()`.
   */
  consume(queue: string, options: ConsumeOptions, handler: DeliveryHandler): Promise<Subscription>;
  depth(queue: string): Promise<QueueDepth>;
  deadLetters(queue: string, limit: number): Promise<readonly DeadLetter[]>;
  /** Back to the queue with a fresh delivery count; answers how many were found. */
  requeue(queue: string, ids: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

/** What a broker can really do; nothing is emulated silently, and the engine copes. */
export interface BrokerCapabilities {
  readonly name: string;
  readonly priority: "exact" | "bands" | "none";
  readonly delay: "any" | "steps" | "none";
  readonly dedupe: boolean;
  readonly lease: "timed" | "connection";
  /** A stale holder's settle or renew answers `lost`. */
  readonly fenced: boolean;
  readonly transactionalPublish: boolean;
  readonly withdraw: boolean;
}

export interface QueueSpec {
  readonly leaseMs: number;
  /** Then it is dead-lettered with the reason `MaxDeliveriesExceeded`. */
  readonly maxDeliveries: number;
  readonly dedupeMs?: number;
}

export interface OutMessage {
  /** Names the message: the key of duplicate detection. */
  readonly id: string;
  readonly body: string;
  /** What belongs together (a job): its messages can be withdrawn together. */
  readonly group?: string;
  readonly priority?: number;
  readonly delayMs?: number;
  readonly headers?: Readonly<Record<string, string | number | boolean>>;
}

/** `lost`: no longer ours (expired, settled before, withdrawn). It may run elsewhere by now. */
export type Settled = "ok" | "lost";

/** Why a delivery's signal was aborted. */
export type AbortCause = "cancelled" | "lost" | "held_too_long" | "shutdown";

/** The reason of a delivery's aborted signal. */
export class DeliveryAborted extends Error {
  readonly abortCause: AbortCause;

  constructor(abortCause: AbortCause) {
    super(abortMessages[abortCause]);
    this.name = "DeliveryAborted";
    this.abortCause = abortCause;
  }
}

const abortMessages: Readonly<Record<AbortCause, string>> = {
  cancelled: "The message was withdrawn: its job was cancelled or has failed.",
  lost: "The lease was lost: the message may run elsewhere by now.",
  held_too_long: "The message was held longer than its time limit and is given up.",
  shutdown: "The worker is stopping: save a checkpoint and return.",
};

/** Names one delivery in the database's own lease table. */
export interface LeaseToken {
  readonly message_id: number;
  readonly deliveries: number;
  /** By the database's clock. */
  readonly leased_at?: string | undefined;
  /** Of a message that was handed over: by whom. */
  readonly via?: object;
}

export interface Delivery {
  /** The publisher's id of the message. */
  readonly id: string;
  readonly queue: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | number | boolean>>;
  /** 1 on the first delivery. */
  readonly deliveryCount: number;
  /** Aborted when the lease is lost, the message is withdrawn, or the subscription gives up. */
  readonly signal: AbortSignal;
  /** The same without a signal, which costs more than a short task; answers how to forget it. */
  onAbort(tell: (reason: DeliveryAborted) => void): () => void;
  complete(): Promise<Settled>;
  retry(options?: { delayMs?: number; reason?: string }): Promise<Settled>;
  deadLetter(reason: string, detail?: string): Promise<Settled>;
  renew(): Promise<Settled>;
  /** Gives it back as if it had never been taken: at once, and not counted as a delivery. */
  release(): Promise<Settled>;
  /** Present where the queue lives in the database. */
  readonly lease?: LeaseToken;
  /**
   * Present with `lease`: settles in a statement of the caller's, which
   * must delete the lease that the token names, so that a result and its acknowledgement are one.
   */
  readonly settleWith?: (settle: (lease: LeaseToken) => Promise<Settled>) => Promise<Settled>;
}

/** With this header a delivery is renewed no longer than so many seconds and a grace. */
export const timeoutHeader = "timeout_seconds";

export type DeliveryHandler = (delivery: Delivery) => Promise<void>;

export interface ConsumeOptions {
  /** Handlers that run at once in this process. */
  readonly maxInFlight: number;
  /** Publishers that may hand messages over beside the queue. */
  readonly hands?: Hands;
}

export interface Hands {
  attach(queue: string, consumer: HandedConsumer): { changed(): void; close(): void };
}

/** A consumer as those see it who hand messages over. */
export interface HandedConsumer {
  /** How many it would take now: none while its queue may hold some, which are older. */
  room(): number;
  take(messages: readonly HandedMessage[], via: object): void;
  /** Takes what is leased to this process and was never handed over: its publisher is gone. */
  adopt(): Promise<void>;
}

export interface Subscription {
  /**
   * Takes nothing new, aborts the running handlers' signals with `shutdown`, waits up to `graceMs`
   * for them, and releases what is left.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

export interface QueueDepth {
  readonly ready: number;
  readonly delayed: number;
  readonly in_flight: number;
  readonly dead: number;
  /** Seconds that the oldest ready message has waited. */
  readonly oldest_seconds: number | null;
}

export interface DeadLetter {
  /** What `requeue` takes; the publisher's id is `message_key`. */
  readonly id: string;
  readonly message_key: string;
  readonly body: string;
  readonly reason: string;
  readonly detail: string | null;
  readonly delivery_count: number;
  readonly died_at: string;
}
