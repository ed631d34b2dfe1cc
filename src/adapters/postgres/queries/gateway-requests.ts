import type { JsonObject } from "../../../core/model/json.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions } from "./conditions.ts";
import type { Sent } from "./rows.ts";
import { toPage, toSent } from "./rows.ts";

interface RequestRow {
  readonly request_id: string;
  readonly kind: "submit" | "resubmit" | "reprocess";
  readonly workflow_id: string;
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly version_label: string;
  readonly revision: number;
  readonly submitted_by: string;
  readonly status: "pending" | "running" | "completed" | "failed" | "cancelled";
  readonly percent: number;
  readonly result: JsonObject | null;
  readonly error: JsonObject | null;
  readonly submitted_at: Date;
  readonly completed_at: Date | null;
}
export type PartnerRequest = Sent<RequestRow>;

const columns = `request_id, kind, workflow_id, asset_id, version_ordinal, version_label, revision,
  submitted_by, status, percent, result, error, submitted_at, completed_at`;

export interface Asked {
  readonly platformId: string;
  readonly requestId: string;
}

/** Answers many polls with one statement; each poll sees only the requests of its own partner. */
export async function findRequests(
  db: Queryable,
  asked: readonly Asked[],
): Promise<(PartnerRequest | undefined)[]> {
  const { rows } = await db.query<RequestRow & { platform_id: string }>(
    `SELECT ${columns}, platform_id FROM gateway.requests WHERE request_id = ANY ($1)`,
    [[...new Set(asked.map(({ requestId }) => requestId))]],
    "gateway_requests",
  );
  const byId = new Map(rows.map((row) => [row.request_id, row]));
  return asked.map(({ platformId, requestId }) => {
    const row = byId.get(requestId);
    if (row === undefined) return undefined;
    const { platform_id, ...shown } = row;
    return platform_id === platformId ? toSent(shown) : undefined;
  });
}

export interface RequestFilter {
  readonly status?: string | undefined;
  readonly asset_id?: string | undefined;
  readonly workflow_id?: string | undefined;
}

export interface RequestPlace {
  readonly submitted_at: string;
  readonly request_id: string;
}

/** The newest first. */
export async function listRequests(
  db: Queryable,
  platformId: string,
  filter: RequestFilter,
  limit: number,
  after: RequestPlace | undefined,
): Promise<{ items: PartnerRequest[]; next: RequestPlace | null }> {
  const where = new Conditions()
    .add("platform_id = ?", platformId)
    .add("status = ?", filter.status)
    .add("asset_id = ?", filter.asset_id)
    .add("workflow_id = ?", filter.workflow_id);
  if (after !== undefined) {
    const at = where.value(after.submitted_at);
    const id = where.value(after.request_id);
    where.always(`(submitted_at, request_id) < (${at}::timestamptz, ${id})`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<RequestRow & { place: string }>(
    `SELECT ${columns}, submitted_at::text AS place FROM gateway.requests
     WHERE ${where.toString()} ORDER BY submitted_at DESC, request_id DESC LIMIT ${most}`,
    where.values,
  );
  const { items, last } = toPage(rows, limit);
  return { items, next: last && { submitted_at: last.place, request_id: last.request_id } };
}
