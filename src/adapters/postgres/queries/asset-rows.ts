import type {
  AssetEvent,
  AssetRevision,
  AssetSummary,
  AssetVersion,
} from "../../../core/api/asset-schemas.ts";
import type { Queryable } from "../queryable.ts";
import { isoRow } from "./rows.ts";

export const assetColumnNames = [
  "asset_id",
  "platform_id",
  "platform_refs",
  "clearance_state",
  "cleared_at",
  "cleared_by",
  "made_public_at",
  "made_public_by",
  "exposure",
  "latest_approved_version_ordinal",
  "row_version",
  "deleted_at",
  "deleted_by",
  "created_at",
  "updated_at",
];
export const assetColumns = assetColumnNames.join(", ");

/** The columns of a version, from `asset_versions v`. */
export const versionColumns = `asset_id, version_ordinal, version_label, approval_state, reviewer,
  reviewed_at, rejection_reason, withdrawn_at, processing_state, processing_error, request_id,
  workflow_id, current_job_id, revision, served_revision, blob_path, table_name,
  stac_collection_id, stac_item_id, content_hash, style, export_state, export_job_id,
  external_blob_path, adf_run_id, deleted_at, deleted_by, created_at, updated_at,
  (SELECT min(o.version_ordinal) FROM dagapp.asset_versions o WHERE o.asset_id = v.asset_id
    AND o.content_hash = v.content_hash AND o.version_ordinal < v.version_ordinal
    AND o.deleted_at IS NULL) AS same_content_as`;

export async function findAsset(db: Queryable, assetId: string): Promise<AssetSummary | undefined> {
  const { rows } = await db.query(
    `SELECT ${assetColumns} FROM dagapp.geospatial_assets WHERE asset_id = $1`,
    [assetId],
  );
  return rows[0] && isoRow<AssetSummary>(rows[0]);
}

/** By `version_ordinal`, ascending. */
export async function readVersions(db: Queryable, assetId: string): Promise<AssetVersion[]> {
  const { rows } = await db.query(
    `SELECT ${versionColumns} FROM dagapp.asset_versions v
     WHERE asset_id = $1 ORDER BY version_ordinal`,
    [assetId],
    "read_versions",
  );
  return rows.map((row) => isoRow<AssetVersion>(row));
}

/** The newest revision first. */
export async function readRevisions(
  db: Queryable,
  assetId: string,
  ordinal: number,
): Promise<AssetRevision[]> {
  const { rows } = await db.query(
    `SELECT revision, request_id, workflow_id, job_id, restored_from, processing_state,
       processing_error, blob_path, table_name, stac_collection_id, stac_item_id, content_hash,
       created_by, created_at, completed_at
     FROM dagapp.asset_revisions WHERE asset_id = $1 AND version_ordinal = $2
     ORDER BY revision DESC`,
    [assetId, ordinal],
  );
  return rows.map((row) => isoRow<AssetRevision>(row));
}

export async function readAssetEvents(
  db: Queryable,
  assetId: string,
  filter: {
    readonly after: number;
    readonly version_ordinal?: number | undefined;
    readonly event_type?: string | undefined;
  },
  limit: number,
): Promise<AssetEvent[]> {
  const { rows } = await db.query(
    `SELECT event_id, asset_id, version_ordinal, event_type, actor, via, event_data, created_at
     FROM dagapp.asset_events
     WHERE asset_id = $1 AND event_id > $2
       AND ($3::int IS NULL OR version_ordinal = $3) AND ($4::text IS NULL OR event_type = $4)
     ORDER BY event_id LIMIT $5`,
    [assetId, filter.after, filter.version_ordinal ?? null, filter.event_type ?? null, limit],
  );
  return rows.map((row) => isoRow<AssetEvent>(row));
}
