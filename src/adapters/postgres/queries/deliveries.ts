import type { Delivery, DeliveryDetail } from "../../../core/api/deliveries.ts";
import type { DeliveryState } from "../../../core/model/request.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions, cut } from "./conditions.ts";
import { isoRow } from "./rows.ts";

const columns = `event_id, platform_id, request_id, job_id, event_type, url, state, attempts,
  CASE WHEN state = 'pending' THEN next_attempt_at END AS next_attempt_at, delivered_at,
  last_error, created_at`;

export interface DeliveryPlace {
  readonly created_at: string;
  readonly event_id: string;
}

/** The newest first. */
export async function listDeliveries(
  db: Queryable,
  filter: {
    readonly platform_id?: string | undefined;
    readonly request_id?: string | undefined;
    readonly job_id?: string | undefined;
    readonly state?: DeliveryState | undefined;
  },
  limit: number,
  after: DeliveryPlace | undefined,
): Promise<{ deliveries: Delivery[]; next: DeliveryPlace | null }> {
  const where = new Conditions()
    .add("platform_id = ?", filter.platform_id)
    .add("request_id = ?", filter.request_id)
    .add("job_id = ?", filter.job_id)
    .add("state = ?", filter.state);
  if (after !== undefined) {
    const at = where.value(after.created_at);
    const id = where.value(after.event_id);
    where.always(`(created_at, event_id) < (${at}::timestamptz, ${id})`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<{ place: string; event_id: string }>(
    `SELECT ${columns}, created_at::text AS place FROM dagapp.callback_deliveries
     WHERE ${where.toString()} ORDER BY created_at DESC, event_id DESC LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  return {
    deliveries: page.rows.map(({ place: _, ...row }) => isoRow<Delivery>(row)),
    next: page.last && { created_at: page.last.place, event_id: page.last.event_id },
  };
}

export async function findDelivery(
  db: Queryable,
  eventId: string,
): Promise<DeliveryDetail | undefined> {
  const { rows } = await db.query<{ body: string }>(
    `SELECT ${columns}, body FROM dagapp.callback_deliveries WHERE event_id = $1`,
    [eventId],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  const { rows: log } = await db.query(
    `SELECT attempt, status_code, error, duration_ms, attempted_at
     FROM dagapp.callback_attempts WHERE event_id = $1 ORDER BY attempt`,
    [eventId],
  );
  return {
    ...isoRow<Delivery>(row),
    body: JSON.parse(row.body) as JsonObject,
    log: log.map((each) => isoRow<DeliveryDetail["log"][number]>(each)),
  };
}
