import type { AssetEventType, ClearanceState, Exposure } from "../../../core/model/asset.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { ApprovalState, ExportState, ProcessingState } from "../../../core/model/version.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions } from "./conditions.ts";
import type { Sent } from "./rows.ts";
import { toPage, toSent } from "./rows.ts";

interface AssetRow {
  readonly asset_id: string;
  readonly platform_refs: JsonObject;
  readonly clearance_state: ClearanceState;
  readonly cleared_at: Date | null;
  readonly cleared_by: string | null;
  readonly made_public_at: Date | null;
  readonly made_public_by: string | null;
  readonly exposure: Exposure;
  readonly latest_approved_version_ordinal: number | null;
  readonly row_version: number;
  readonly deleted_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const assetColumns = `asset_id, platform_refs, clearance_state, cleared_at, cleared_by,
  made_public_at, made_public_by, exposure, latest_approved_version_ordinal, row_version,
  deleted_at, created_at, updated_at`;

export async function findAsset(
  db: Queryable,
  platformId: string,
  assetId: string,
): Promise<Sent<AssetRow> | undefined> {
  const { rows } = await db.query<AssetRow>(
    `SELECT ${assetColumns} FROM gateway.assets WHERE platform_id = $1 AND asset_id = $2`,
    [platformId, assetId],
  );
  return rows[0] && toSent(rows[0]);
}

export interface AssetFilter {
  /** As JSON text. */
  readonly refs?: string | undefined;
  readonly clearance_state?: ClearanceState | undefined;
  readonly approval_state?: ApprovalState | undefined;
  readonly isDeleted: boolean;
}

export interface AssetPlace {
  readonly updated_at: string;
  readonly asset_id: string;
}

/** The last changed first. */
export async function listAssets(
  db: Queryable,
  platformId: string,
  filter: AssetFilter,
  limit: number,
  after: AssetPlace | undefined,
): Promise<{ items: Sent<AssetRow>[]; next: AssetPlace | null }> {
  const where = new Conditions()
    .add("platform_id = ?", platformId)
    .add("platform_refs @> ?::jsonb", filter.refs)
    .add("clearance_state = ?", filter.clearance_state)
    .add("(deleted_at IS NOT NULL) = ?", filter.isDeleted)
    .add(
      `EXISTS (SELECT FROM gateway.asset_versions v WHERE v.asset_id = assets.asset_id
         AND v.deleted_at IS NULL AND v.approval_state = ?)`,
      filter.approval_state,
    );
  if (after !== undefined) {
    const at = where.value(after.updated_at);
    const id = where.value(after.asset_id);
    where.always(`(updated_at, asset_id) < (${at}::timestamptz, ${id})`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<AssetRow & { place: string }>(
    `SELECT ${assetColumns}, updated_at::text AS place FROM gateway.assets
     WHERE ${where.toString()} ORDER BY updated_at DESC, asset_id DESC LIMIT ${most}`,
    where.values,
  );
  const { items, last } = toPage(rows, limit);
  return { items, next: last && { updated_at: last.place, asset_id: last.asset_id } };
}

interface VersionRow {
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly version_label: string;
  readonly approval_state: ApprovalState;
  readonly reviewer: string | null;
  readonly reviewed_at: Date | null;
  readonly rejection_reason: string | null;
  readonly withdrawn_at: Date | null;
  readonly processing_state: ProcessingState;
  readonly processing_error: string | null;
  readonly request_id: string;
  readonly workflow_id: string;
  readonly revision: number;
  readonly served_revision: number | null;
  readonly content_hash: string | null;
  readonly same_content_as: number | null;
  readonly stac_collection_id: string | null;
  readonly stac_item_id: string | null;
  readonly export_state: ExportState | null;
  readonly external_blob_path: string | null;
  readonly deleted_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** By `version_ordinal`, ascending. */
export async function listVersions(
  db: Queryable,
  platformId: string,
  assetId: string,
  ordinal?: number,
): Promise<Sent<VersionRow>[]> {
  const where = new Conditions()
    .add("platform_id = ?", platformId)
    .add("asset_id = ?", assetId)
    .add("version_ordinal = ?", ordinal);
  const { rows } = await db.query<VersionRow>(
    `SELECT asset_id, version_ordinal, version_label, approval_state, reviewer, reviewed_at,
       rejection_reason, withdrawn_at, processing_state, processing_error, request_id, workflow_id,
       revision, served_revision, content_hash, stac_collection_id, stac_item_id, export_state,
       external_blob_path, deleted_at, created_at, updated_at, same_content_as
     FROM gateway.asset_versions WHERE ${where.toString()} ORDER BY version_ordinal`,
    where.values,
  );
  return rows.map(toSent);
}

interface RevisionRow {
  readonly revision: number;
  readonly request_id: string;
  readonly workflow_id: string;
  readonly restored_from: number | null;
  readonly processing_state: ProcessingState;
  readonly processing_error: string | null;
  readonly content_hash: string | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

export async function listRevisions(
  db: Queryable,
  platformId: string,
  assetId: string,
  ordinal: number,
): Promise<Sent<RevisionRow>[]> {
  const { rows } = await db.query<RevisionRow>(
    `SELECT revision, request_id, workflow_id, restored_from, processing_state, processing_error,
       content_hash, created_by, created_at, completed_at
     FROM gateway.asset_revisions
     WHERE platform_id = $1 AND asset_id = $2 AND version_ordinal = $3 ORDER BY revision`,
    [platformId, assetId, ordinal],
  );
  return rows.map(toSent);
}

interface EventRow {
  readonly event_id: number;
  readonly version_ordinal: number | null;
  readonly event_type: AssetEventType;
  readonly actor: string;
  readonly created_at: Date;
}

/** The oldest first, after a sequence number. */
export async function listAssetEvents(
  db: Queryable,
  platformId: string,
  assetId: string,
  after: number,
  limit: number,
): Promise<Sent<EventRow>[]> {
  const { rows } = await db.query<EventRow>(
    `SELECT event_id, version_ordinal, event_type, actor, created_at FROM gateway.asset_events
     WHERE platform_id = $1 AND asset_id = $2 AND event_id > $3 ORDER BY event_id LIMIT $4`,
    [platformId, assetId, after, limit],
  );
  return rows.map(toSent);
}
