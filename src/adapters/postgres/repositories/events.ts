import type { EventStatus, EventType } from "../../../core/model/event.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import { eventsChannel } from "../channels.ts";
import type { Transaction } from "../queryable.ts";

export interface NewEvent {
  readonly job_id: string;
  /** Its number; the number of the last one when the row holds several. */
  seq: number;
  readonly event_type: EventType;
  readonly event_status: EventStatus;
  readonly node_id: string | null;
  readonly task_id: string | null;
  readonly event_data: JsonObject | null;
  /** Indexes of children whose events are this one row; `node_id` is then their fan-out. */
  readonly children?: number[];
}

/**
 * Inserts events in the transaction of the change that they record. The commit notifies orchestrators
 * that stream events, and notifies none while none streams: PostgreSQL runs commits with a NOTIFY one
 * after the other, including their writes to disk.
 */
export function insertEvents(tx: Transaction, events: readonly NewEvent[]): void {
  const column = <K extends keyof NewEvent>(key: K) => events.map((event) => event[key]);
  tx.send(
    `WITH woken AS (
       SELECT CASE WHEN EXISTS (SELECT FROM dagapp.dag_orchestrators WHERE watches)
         THEN pg_notify('${eventsChannel}', '') END)
     INSERT INTO dagapp.dag_job_events
       (job_id, seq, event_type, event_status, node_id, task_id, event_data, children)
     SELECT job_id, seq, type, status::dagapp.event_status, node_id, task_id, data::jsonb,
       children::integer[]
     FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
         $8::text[])
       AS t(job_id, seq, type, status, node_id, task_id, data, children), woken`,
    [
      column("job_id"),
      column("seq"),
      column("event_type"),
      column("event_status"),
      column("node_id"),
      column("task_id"),
      events.map(({ event_data }) => (event_data === null ? null : JSON.stringify(event_data))),
      events.map(({ children }) => (children === undefined ? null : `{${children.join(",")}}`)),
    ],
    "insert_events",
  );
}
