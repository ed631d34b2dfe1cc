import type { CallbackEventType, DeliveryState } from "../../../core/model/request.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions } from "./conditions.ts";
import type { Sent } from "./rows.ts";
import { toPage, toSent } from "./rows.ts";

interface PlatformRow {
  readonly platform_id: string;
  readonly display_name: string;
  readonly required_refs: string[];
  readonly optional_refs: string[];
  readonly version_ref: string | null;
  readonly callback_url: string | null;
  readonly callback_hosts: string[];
  readonly source_prefixes: string[];
  readonly created_at: Date;
  readonly updated_at: Date;
}

export async function findPlatform(
  db: Queryable,
  platformId: string,
): Promise<Sent<PlatformRow> | undefined> {
  const { rows } = await db.query<PlatformRow>(
    `SELECT platform_id, display_name, required_refs, optional_refs, version_ref, callback_url,
       callback_hosts, source_prefixes, created_at, updated_at
     FROM gateway.platforms WHERE platform_id = $1`,
    [platformId],
  );
  return rows[0] && toSent(rows[0]);
}

interface DeliveryRow {
  readonly event_id: string;
  readonly request_id: string;
  readonly event_type: CallbackEventType;
  readonly url: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly delivered_at: Date | null;
  readonly last_error: string | null;
  readonly created_at: Date;
}
export type PartnerDelivery = Sent<DeliveryRow>;

export interface DeliveryFilter {
  readonly event_id?: string | undefined;
  readonly request_id?: string | undefined;
  readonly state?: DeliveryState | undefined;
}

export interface DeliveryPlace {
  readonly created_at: string;
  readonly event_id: string;
}

/** The newest first. */
export async function listDeliveries(
  db: Queryable,
  platformId: string,
  filter: DeliveryFilter,
  limit: number,
  after?: DeliveryPlace,
): Promise<{ items: PartnerDelivery[]; next: DeliveryPlace | null }> {
  const where = new Conditions()
    .add("platform_id = ?", platformId)
    .add("event_id = ?", filter.event_id)
    .add("request_id = ?", filter.request_id)
    .add("state = ?", filter.state);
  if (after !== undefined) {
    const at = where.value(after.created_at);
    const id = where.value(after.event_id);
    where.always(`(created_at, event_id) < (${at}::timestamptz, ${id})`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<DeliveryRow & { place: string }>(
    `SELECT event_id, request_id, event_type, url, state, attempts,
       CASE WHEN state = 'pending' THEN next_attempt_at END AS next_attempt_at, delivered_at,
       last_error, created_at, created_at::text AS place
     FROM gateway.deliveries WHERE ${where.toString()}
     ORDER BY created_at DESC, event_id DESC LIMIT ${most}`,
    where.values,
  );
  const { items, last } = toPage(rows, limit);
  return { items, next: last && { created_at: last.place, event_id: last.event_id } };
}
