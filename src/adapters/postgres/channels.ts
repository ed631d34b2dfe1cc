/**
 * The channels of LISTEN and NOTIFY. A notification says that a table has news; it carries no data,
 * and a process that missed one finds the news by its next poll.
 */

/** The inbox has results, or a job is dirty: orchestrators tick. */
export const engineChannel = "dag_wake";
/** An orchestrator released its jobs: the others claim orphans. */
export const orphansChannel = "dag_orphans";
/** An event of a job was written while an orchestrator streams events to browsers. */
export const eventsChannel = "dag_events";
/** A callback to a partner waits for delivery. */
export const callbacksChannel = "dag_callbacks";
/** A task asks an orchestrator for a change of an asset. */
export const taskRequestsChannel = "dag_task_requests";
/** Orchestrators read the workflow files again. */
export const cachesChannel = "dag_caches";
/** Leases were cancelled: their holders renew at once, and the answer names the cancelled ones. */
export const withdrawnChannel = "dag_withdrawn";
/** A push server has started: workers read the table of push servers. */
export const pushServersChannel = "dag_push_servers";

/** Workers offer other handlers than before: orchestrators read the contracts. */
export const handlersChannel = "dag_handlers";

/**
 * Messages are ready in a queue. Each queue has a channel, so that no process is woken by messages
 * of queues that it does not consume; names are cut at PostgreSQL's limit of 63 bytes.
 */
export const queueChannel = (queue: string): string => `dag_queue_${queue}`.slice(0, 63);
/** The same expression in SQL; `queue` is the name of a column or a parameter. */
export const queueChannelSql = (queue: string): string => `left('dag_queue_' || ${queue}, 63)`;
