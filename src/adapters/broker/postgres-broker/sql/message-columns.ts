/** The columns that a message keeps when it moves between the ready, leased and dead tables. */
export const messageColumns =
  "message_id, queue, priority, deliveries, released, lost, message_key, group_key, headers, body, enqueued_at";

/** Names one delivery of a message. `deliveries` is the fence: each delivery has a higher number. */
export interface LeaseToken {
  readonly message_id: number;
  readonly deliveries: number;
}

/** A leased message, as a fetch or a push brings it. */
export interface LeasedMessage extends LeaseToken {
  readonly priority: number;
  readonly released: number;
  /** How many of `released` were lost leases. */
  readonly lost: number;
  readonly message_key: string;
  readonly headers: Readonly<Record<string, string | number | boolean>> | null;
  readonly body: string;
  /** The start of the task: when the message was leased, by the database's clock. */
  readonly leased_at: string;
}
