/**
 * Where messages wait that arrive. A channel for each queue, so that no process is woken by messages
 * that are not for it; names are cut where PostgreSQL would refuse them.
 */
export const queueChannelSql = (queue: string): string => `left('dag_queue_' || ${queue}, 63)`;
export const queueChannel = (queue: string): string => `dag_queue_${queue}`.slice(0, 63);
/** Leases were cancelled: whoever holds some asks at once instead of at the next renewal. */
export const withdrawnChannel = "dag_withdrawn";
/** The engine has something to read. */
export const engineChannel = "dag_wake";

/** What a message keeps when it moves between the tables of ready, leased and dead messages. */
export const messageColumns =
  "message_id, queue, priority, deliveries, handed_back, message_key, group_key, headers, body, enqueued_at";

export const maxDeliveriesExceeded = "MaxDeliveriesExceeded";
