/**
 * Reads the newest events of a job for its live streams. The rows are unpacked here and not by the view
 * `dag_unpacked_events`: a row may hold the events of hundreds of children, and one row of the server for
 * each of them cost more than all other work for a stream.
 */
import type { JobEvent } from "../../../core/api/job-schemas.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { Queryable } from "../queryable.ts";
import { iso } from "./conditions.ts";

type EventColumns = Omit<JobEvent, "created_at">;

/** As `insertEvents` packs an event: [event_type, event_status, node_id, task_id, event_data]. */
type PackedEvent = readonly [
  JobEvent["event_type"],
  JobEvent["event_status"],
  (string | null)?,
  (string | null)?,
  (JsonObject | null)?,
];

interface EventRow extends EventColumns {
  readonly created_at: Date;
  readonly children: readonly number[] | null;
  readonly earlier: readonly PackedEvent[] | null;
}

/**
 * Answers up to `limit` events, the oldest first. The numbers of a job's events have no gaps, so the page
 * ends in the first row whose number is `after + limit` or more.
 */
export async function readNewEvents(
  db: Queryable,
  jobId: string,
  after: number,
  limit: number,
): Promise<JobEvent[]> {
  const { rows } = await db.query<EventRow>(
    `SELECT seq, event_type, event_status, node_id, task_id, checkpoint_name, event_data, created_at,
       children, earlier
     FROM dagapp.dag_job_events
     WHERE job_id = $1 AND seq > $2 AND seq <= coalesce(
       (SELECT min(seq) FROM dagapp.dag_job_events WHERE job_id = $1 AND seq >= $3), $3)
     ORDER BY seq`,
    [jobId, after, after + limit],
  );
  const events = rows.flatMap(unpack);
  const first = events.findIndex(({ seq }) => seq > after);
  return first === -1 ? [] : events.slice(first, first + limit);
}

/** `seq` of a row is the number of its last event. */
function unpack({ children, earlier, ...row }: EventRow): JobEvent[] {
  const { seq, node_id, checkpoint_name } = row;
  const last: JobEvent = { ...row, created_at: iso(row.created_at) };
  if (children !== null) {
    const before = seq - children.length + 1;
    return children.map((index, place) => ({
      ...last,
      seq: before + place,
      node_id: `${node_id}__${index}`,
    }));
  }
  if (earlier === null) return [last];
  const events = earlier.map(
    ([event_type, event_status, node = null, task_id = null, event_data = null], place) => ({
      seq: seq - earlier.length + place,
      event_type,
      event_status,
      node_id: node,
      task_id,
      checkpoint_name,
      event_data,
      created_at: last.created_at,
    }),
  );
  return [...events, last];
}
