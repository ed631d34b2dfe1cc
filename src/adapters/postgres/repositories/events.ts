import type { EventStatus, EventType } from "../../../core/model/event.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import { eventsChannel } from "../channels.ts";
import type { Transaction } from "../queryable.ts";
import { rowStatement } from "../row-statement.ts";

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

/** A longer run of events is several rows, so that a page of events does not read thousands for its first. */
const mostInRow = 100;

/** An event without its number: [event_type, event_status, node_id, task_id, event_data]. */
type PackedEvent = (JsonObject | string | null)[];

type EventRow = NewEvent & { earlier?: PackedEvent[] };

/**
 * Packs neighbouring events of a job into one row, whose own columns are the last of them. The view
 * `dag_unpacked_events` reads each by itself.
 */
function packEvents(events: readonly NewEvent[]): readonly EventRow[] {
  const rows: EventRow[] = [];
  let last: EventRow | undefined;
  for (const event of events) {
    if (
      last?.job_id === event.job_id &&
      last.seq + 1 === event.seq &&
      (last.children ?? event.children) === undefined &&
      (last.earlier?.length ?? 0) + 1 < mostInRow
    ) {
      last = { ...event, earlier: [...(last.earlier ?? []), pack(last)] };
      rows[rows.length - 1] = last;
    } else {
      last = event;
      rows.push(last);
    }
  }
  return rows;
}

function pack({ event_type, event_status, node_id, task_id, event_data }: NewEvent): PackedEvent {
  const packed = [event_type, event_status, node_id, task_id, event_data];
  while (packed.at(-1) === null) packed.pop();
  return packed;
}

const insertEventsStatement = rowStatement<EventRow>(
  "insert_events",
  {
    job_id: ["text", (row) => row.job_id],
    seq: ["int", (row) => row.seq],
    type: ["text", (row) => row.event_type],
    status: ["text", (row) => row.event_status],
    node_id: ["text", (row) => row.node_id],
    task_id: ["text", (row) => row.task_id],
    data: ["text", ({ event_data }) => (event_data === null ? null : JSON.stringify(event_data))],
    children: [
      "text",
      ({ children }) => (children === undefined ? null : `{${children.join(",")}}`),
    ],
    earlier: ["json", ({ earlier }) => (earlier === undefined ? null : JSON.stringify(earlier))],
  },
  (rows) => `WITH woken AS (
       SELECT CASE WHEN EXISTS (SELECT FROM dagapp.dag_orchestrators WHERE watches)
         THEN pg_notify('${eventsChannel}', '') END)
     INSERT INTO dagapp.dag_job_events
       (job_id, seq, event_type, event_status, node_id, task_id, event_data, children, earlier)
     SELECT job_id, seq, type, status::dagapp.event_status, node_id, task_id, data::jsonb,
       children::integer[], earlier::jsonb
     FROM ${rows("t")}, woken`,
);

/**
 * Inserts events in the transaction of the change that they record. The commit notifies orchestrators
 * that stream events, and notifies none while none streams: PostgreSQL runs commits with a NOTIFY one
 * after the other, including their writes to disk.
 */
export function insertEvents(tx: Transaction, events: readonly NewEvent[]): void {
  const { text, values, name } = insertEventsStatement(packEvents(events));
  tx.send(text, values, name);
}
