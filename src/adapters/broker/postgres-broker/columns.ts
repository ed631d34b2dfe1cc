/** Where messages wait that arrive: consumers of the queue in the payload look. */
export const queueChannel = "dag_queue";
/** Leases were cancelled: whoever holds some asks at once instead of at the next renewal. */
export const withdrawnChannel = "dag_withdrawn";
/** All that a consumer listens to. */
export const brokerChannels = [queueChannel, withdrawnChannel];
/** The engine has something to read. */
export const engineChannel = "dag_wake";

/** What a message keeps when it moves between the tables of ready, leased and dead messages. */
export const messageColumns =
  "message_id, queue, priority, deliveries, handed_back, message_key, group_key, headers, body, enqueued_at";

export const maxDeliveriesExceeded = "MaxDeliveriesExceeded";
