/**
 * The channels of LISTEN and NOTIFY. A notification says that a table has news; it carries no data,
 * and a process that missed one finds the news by its next poll.
 */

/** The inbox has results, or a job is dirty: an orchestrator's tick looks. */
export const engineChannel = "dag_wake";
/** An orchestrator released its jobs: the others look for orphans. */
export const orphansChannel = "dag_orphans";
/** An event of a job was written while an orchestrator shows jobs live. */
export const eventsChannel = "dag_events";
/** A callback to a partner waits for delivery. */
export const callbacksChannel = "dag_callbacks";
/** Workflow files are to be read again. */
export const cachesChannel = "dag_caches";
/** Leases were cancelled: their holders renew at once and learn of it. */
export const withdrawnChannel = "dag_withdrawn";
/** A push server has started: workers read the table of push servers. */
export const pushServersChannel = "dag_push_servers";

/**
 * Messages are ready in a queue. Each queue has a channel, so that no process is woken by messages
 * of queues that it does not consume; names are cut at PostgreSQL's limit of 63 bytes.
 */
export const queueChannel = (queue: string): string => `dag_queue_${queue}`.slice(0, 63);
/** The same in SQL, for a queue that a column or parameter names. */
export const queueChannelSql = (queue: string): string => `left('dag_queue_' || ${queue}, 63)`;
