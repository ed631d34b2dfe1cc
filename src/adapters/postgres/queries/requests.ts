import type { PlatformRequest } from "../../../core/api/asset-schemas.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import { dots } from "../../../core/model/mask.ts";
import type { RequestKind, RequestStatus } from "../../../core/model/request.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions, cut } from "./conditions.ts";
import { isoRow } from "./rows.ts";

export interface RequestFilter {
  readonly platform_id?: string | undefined;
  readonly asset_id?: string | undefined;
  readonly version_ordinal?: number | undefined;
  readonly status?: RequestStatus | undefined;
  readonly kind?: RequestKind | undefined;
}

export interface RequestPlace {
  readonly submitted_at: string;
  readonly request_id: string;
}

/** The inputs as they are shown: those that the workflow names as secret are dots. */
const shownInputs = `
  r.inputs || coalesce((
    SELECT jsonb_object_agg(key, '${dots}')
    FROM dagapp.dag_workflow_versions w, jsonb_each(w.definition -> 'inputs')
    WHERE w.workflow_hash = j.workflow_hash AND value -> 'secret' = 'true' AND r.inputs ? key), '{}')`;

const select = `
  SELECT r.request_id, r.platform_id, r.kind, r.workflow_id, r.asset_id, r.version_ordinal,
    v.version_label, r.revision, ${shownInputs} AS inputs, r.submitted_by, r.idempotency_key, r.callback_url,
    r.priority, r.job_id, r.status, r.result, r.error, r.submitted_at, r.completed_at,
    CASE r.status WHEN 'completed' THEN 100 ELSE
      coalesce(round(100.0 * (j.nodes_total - j.nodes_unsettled) / nullif(j.nodes_total, 0)), 0)
    END::float8 AS percent
  FROM dagapp.requests r
  JOIN dagapp.asset_versions v USING (asset_id, version_ordinal)
  LEFT JOIN dagapp.dag_jobs j ON j.job_id = r.job_id`;

export async function findRequest(
  db: Queryable,
  requestId: string,
): Promise<PlatformRequest | undefined> {
  const { rows } = await db.query(`${select} WHERE r.request_id = $1`, [requestId]);
  return rows[0] && isoRow<PlatformRequest>(rows[0]);
}

/** The inputs with their secrets, for a request that repeats another. */
export async function readRequestInputs(
  db: Queryable,
  requestId: string,
): Promise<JsonObject | undefined> {
  const { rows } = await db.query<{ inputs: JsonObject }>(
    "SELECT inputs FROM dagapp.requests WHERE request_id = $1",
    [requestId],
  );
  return rows[0]?.inputs;
}

/** The newest first. */
export async function listRequests(
  db: Queryable,
  filter: RequestFilter,
  limit: number,
  after: RequestPlace | undefined,
): Promise<{ requests: PlatformRequest[]; next: RequestPlace | null }> {
  const where = new Conditions()
    .add("r.platform_id = ?", filter.platform_id)
    .add("r.asset_id = ?", filter.asset_id)
    .add("r.version_ordinal = ?", filter.version_ordinal)
    .add("r.status = ?", filter.status)
    .add("r.kind = ?", filter.kind);
  if (after !== undefined) {
    const at = where.value(after.submitted_at);
    const id = where.value(after.request_id);
    where.always(`(r.submitted_at, r.request_id) < (${at}::timestamptz, ${id})`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<{ place: string; request_id: string }>(
    `SELECT page.*, submitted_at::text AS place FROM (${select} WHERE ${where.toString()}
       ORDER BY r.submitted_at DESC, r.request_id DESC LIMIT ${most}) page
     ORDER BY submitted_at DESC, request_id DESC`,
    where.values,
  );
  const page = cut(rows, limit);
  return {
    requests: page.rows.map(({ place: _, ...row }) => isoRow<PlatformRequest>(row)),
    next: page.last && { submitted_at: page.last.place, request_id: page.last.request_id },
  };
}
