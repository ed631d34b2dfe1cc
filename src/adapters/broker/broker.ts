import type { TaskReport } from "../../core/messages.ts";
import type { Transaction } from "../postgres/queryable.ts";

/**
 * The port to a message queue. Delivery is at least once: a message may arrive twice (a lost answer,
 * an expired lease), never not at all. PostgreSQL holds the truth and a message is only a hint to
 * work, so a duplicate changes nothing. Messages are ordered roughly by priority, then by age.
 */
export interface Broker {
  readonly capabilities: BrokerCapabilities;
  ensureQueue(queue: string, spec: QueueSpec): Promise<void>;
  /**
   * Resolves when every message is stored. With `tx` the messages appear when that transaction
   * commits, and whatever must follow the commit (a push, a relay's wake-up) follows by itself.
   */
  publish(
    queue: string,
    messages: readonly OutMessage[],
    options?: { tx?: Transaction },
  ): Promise<void>;
  /**
   * Removes the waiting messages of these groups (jobs) and aborts the signals of their running
   * handlers with `cancelled`, when the transaction commits. Check `capabilities.withdraw` first: a
   * broker without it throws.
   */
  withdraw(groups: readonly string[], options: { tx: Transaction }): Promise<void>;
  /**
   * Leases are renewed while the handler runs. A handler that throws means `retry()`, one that
   * returns without settling means `complete()`.
   */
  consume(queue: string, options: ConsumeOptions, handler: DeliveryHandler): Promise<Subscription>;
  /** Reports that workers pushed to this process. Absent: every report goes to the database. */
  readonly pushedReports?: PushedReports;
  /** Leases for consumers outside of the fleet's processes. Absent: this broker has none. */
  readonly remoteLeases?: RemoteLeases;
  /** Of these messages, the ids of those that are neither waiting, nor held, nor dead. */
  findMissing(
    messages: readonly { readonly id: string; readonly group: string }[],
  ): Promise<ReadonlySet<string>>;
  /**
   * Removes messages whose consumer holds them longer than their `timeout_seconds` header and this
   * grace, and answers them: the caller fails their tasks in the same transaction.
   */
  takeOverdue(tx: Transaction, graceSeconds: number): Promise<readonly OverdueMessage[]>;
  /** Dead letters that no call has answered before; they stay listed for people. */
  takeNewDeadLetters(tx: Transaction, limit: number): Promise<readonly NewDeadLetter[]>;
  /**
   * Returns the messages of a consumer that has surely died to their queues. Answers those that it ran
   * alone, for the caller to settle: each made its consumer die.
   */
  takeCrashed(consumer: string): Promise<readonly Delivery[]>;
  /** Shows how far a held message is, for a worker that has no delivery object; false: not held. */
  recordProgress(id: string, percent: number, message: string | null): Promise<boolean>;
  /** How the outside broker is reached. Absent: PostgreSQL alone carries the messages. */
  readonly outside?: () => Promise<OutsideStatus>;
  depth(queue: string): Promise<QueueDepth>;
  deadLetters(queue: string, limit: number): Promise<readonly DeadLetter[]>;
  /** Puts dead letters back to the queue with a fresh delivery count; answers how many were found. */
  requeue(queue: string, ids: readonly string[]): Promise<number>;
  /** Housekeeping, such as vacuum: one process of a fleet calls it about once a minute. */
  maintain(): Promise<void>;
  close(): Promise<void>;
}

/** What a broker can do. Nothing is emulated silently: the engine reads this and copes. */
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
  /** Consumers get only the messages that they accept. */
  readonly selects: boolean;
}

export interface QueueSpec {
  readonly leaseMs: number;
  /**
   * After so many deliveries a message is dead-lettered with the reason `MaxDeliveriesExceeded`. A
   * delivery whose lease was lost counts only if its consumer ran nothing else.
   */
  readonly maxDeliveries: number;
  readonly dedupeMs?: number;
}

export interface OutMessage {
  /** Names the message: the key of duplicate detection. */
  readonly id: string;
  readonly body: string;
  /** The job that the message belongs to: messages of a group can be withdrawn together. */
  readonly group?: string;
  readonly priority?: number;
  /** Its consumer runs nothing else meanwhile: an earlier attempt made its consumer die. */
  readonly alone?: boolean;
  readonly delayMs?: number;
  readonly headers?: Readonly<Record<string, string | number | boolean>>;
}

/** `lost`: this consumer no longer holds the message (expired, settled before, withdrawn). */
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
  /** Calls back instead, since making a signal costs more than a short task; answers the undo. */
  onAbort(listener: (reason: DeliveryAborted) => void): () => void;
  complete(): Promise<Settled>;
  /**
   * Records how the message's task ended and completes the message. `lost`: another consumer has
   * the message, and nothing was recorded.
   */
  report(report: TaskReport): Promise<Settled>;
  retry(options?: { delayMs?: number; reason?: string }): Promise<Settled>;
  deadLetter(reason: string, detail?: string): Promise<Settled>;
  renew(): Promise<Settled>;
  /** Gives the message back as if it had never been taken: at once, and not counted as a delivery. */
  release(): Promise<Settled>;
  /** Shows how far the handler is. Only the newest of a moment is stored. */
  progress(percent: number, message: string | null): void;
  /**
   * Answers whether this consumer still holds the message, and keeps it so until `tx` ends: what the
   * caller writes in `tx` cannot overwrite what the next holder wrote. Absent where
   * `capabilities.fenced` is false.
   */
  isHeld?(tx: Transaction): Promise<boolean>;
}

/** With this header a delivery is renewed no longer than so many seconds and a grace. */
export const timeoutHeader = "timeout_seconds";

/** Names the lease of a delivery over HTTP, for its checkpoints, logs and addresses of storage. */
export const leaseHeader = "lease";

/** With this header a message goes only to consumers that accept its value. */
export const handlerHeader = "handler";

export type DeliveryHandler = (delivery: Delivery) => Promise<void>;

export interface ConsumeOptions {
  /** Handlers that run at once in this process. */
  readonly maxInFlight: number;
  /**
   * The values of `handlerHeader` that this consumer accepts, asked before each fetch; others stay in
   * the queue. Absent: all. Ignored where `capabilities.selects` is false.
   */
  readonly accepts?: (() => readonly string[]) | undefined;
}

export interface Subscription {
  /**
   * Takes nothing new, aborts the running handlers' signals with `shutdown`, waits up to `graceMs`
   * for them, and releases what is left.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Leases of consumers that reach the queue through another process, such as workers over HTTP. The
 * lease is a row and not held in memory: every process of the fleet can renew and settle it.
 */
export interface RemoteLeases {
  /** Leases messages of the queues, and waits up to `waitMs` while there are none. */
  take(consumer: RemoteConsumer, options: TakeOptions): Promise<readonly RemoteMessage[]>;
  /** Answers for each lease, in the order given. */
  renew(
    holder: string,
    leases: readonly string[],
  ): Promise<readonly ("held" | "cancelled" | "lost")[]>;
  /** Records how tasks ended and completes their messages, in `tx` if it is given. */
  report(reports: readonly RemoteReport[], tx?: Transaction): Promise<readonly Settled[]>;
  release(holder: string, leases: readonly string[]): Promise<readonly Settled[]>;
  progress(holder: string, progress: readonly RemoteProgress[]): Promise<void>;
  /** The tasks of the leases that the holder holds, by lease. */
  read(holder: string, leases: readonly string[]): Promise<ReadonlyMap<string, RemoteTask>>;
  /** As `read`, but the holder may have lost leases since: what `report` answers counts. */
  identify(holder: string, leases: readonly string[]): Promise<ReadonlyMap<string, RemoteTask>>;
  /** The message of a lease that is held, locked until `tx` ends; undefined: it is not held. */
  hold(tx: Transaction, holder: string, lease: string): Promise<{ body: string } | undefined>;
}

export interface RemoteTask {
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
}

export interface RemoteConsumer {
  readonly holder: string;
  readonly queues: readonly string[];
  /** As `ConsumeOptions.accepts`. */
  readonly accepts: readonly string[];
}

export interface TakeOptions {
  readonly limit: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface RemoteMessage {
  readonly lease: string;
  readonly queue: string;
  readonly body: string;
  readonly deliveryCount: number;
  /** No consumer had it before, not even one that released it. */
  readonly isFirst: boolean;
  readonly leaseMs: number;
}

/** `worker_id` is the holder. */
export interface RemoteReport extends TaskReport {
  readonly lease: string;
}

export interface RemoteProgress {
  readonly lease: string;
  readonly percent: number;
  readonly message: string | null;
}

export interface QueueDepth {
  readonly ready: number;
  readonly delayed: number;
  readonly in_flight: number;
  readonly dead: number;
  /** Seconds that the oldest ready message has waited. */
  readonly oldest_seconds: number | null;
}

/** The state of an outside broker, and of the outbox that feeds it. */
export interface OutsideStatus {
  readonly connected: boolean;
  readonly error: string | null;
  /** Messages that wait in PostgreSQL to be sent, and how long the oldest has waited. */
  readonly unsent: number;
  readonly lag_seconds: number;
}

/** The reason of a dead letter that no consumer completed within the queue's deliveries. */
export const maxDeliveriesExceeded = "MaxDeliveriesExceeded";

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

export interface OverdueMessage {
  readonly id: string;
  readonly group: string;
  readonly holder: string;
  readonly started_at: string;
  readonly timeout_seconds: number;
}

export interface NewDeadLetter {
  readonly id: string;
  readonly group: string;
  readonly reason: string;
  readonly detail: string | null;
  readonly deliveries: number;
}

/** A report in the memory of the process that it was pushed to; no row says so yet. */
export interface PushedReport extends TaskReport {
  readonly started_at: string | null;
}

/**
 * The receiving end of a broker that lets workers push their reports to an orchestrator. Whatever is
 * not recorded here is refused, and its worker writes it to the database.
 */
export interface PushedReports {
  /** Calls `wake` whenever reports have arrived. */
  onArrival(wake: () => void): void;
  /** How many have arrived and were not taken. */
  waiting(): number;
  take(limit: number): readonly PushedReport[];
  /**
   * Completes the messages of the reports and records those that are failures; the caller writes a
   * success to its node. The transaction fails unless every message is still held and every failure is
   * the first result of its task. Workers are answered after the commit.
   */
  record(tx: Transaction, reports: readonly PushedReport[]): void;
  refuse(reports: readonly PushedReport[]): void;
}
