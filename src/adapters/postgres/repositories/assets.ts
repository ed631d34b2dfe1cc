import type { AssetSummary } from "../../../core/api/asset-schemas.ts";
import type { AssetEventType, ClearanceState, Exposure } from "../../../core/model/asset.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import { assetColumns } from "../queries/asset-rows.ts";
import { isoRow } from "../queries/rows.ts";
import type { Transaction } from "../queryable.ts";

export interface NewAsset {
  readonly asset_id: string;
  readonly platform_id: string;
  readonly platform_refs: JsonObject;
  readonly exposure: Exposure;
}

/** Answers false when the asset exists. Of concurrent inserts one wins and the others wait for it. */
export async function insertAsset(tx: Transaction, asset: NewAsset): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO dagapp.geospatial_assets (asset_id, platform_id, platform_refs, exposure)
     VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [asset.asset_id, asset.platform_id, JSON.stringify(asset.platform_refs), asset.exposure],
    "insert_asset",
  );
  return rowCount === 1;
}

/** Every change of an asset or one of its versions must hold this lock. */
export async function lockAsset(
  tx: Transaction,
  assetId: string,
): Promise<AssetSummary | undefined> {
  const { rows } = await tx.query(
    `SELECT ${assetColumns} FROM dagapp.geospatial_assets WHERE asset_id = $1 FOR UPDATE`,
    [assetId],
    "lock_asset",
  );
  return rows[0] && isoRow<AssetSummary>(rows[0]);
}

/** Locks in the order of asset ids, so that two transactions cannot deadlock. */
export async function lockAssetsOfJobs(tx: Transaction, jobIds: readonly string[]): Promise<void> {
  await tx.query(
    `SELECT FROM dagapp.geospatial_assets WHERE asset_id = ANY (ARRAY(
       SELECT asset_id FROM dagapp.asset_jobs WHERE job_id = ANY ($1)))
     ORDER BY asset_id FOR UPDATE`,
    [jobIds],
    "lock_assets_of_jobs",
  );
}

/** Must follow every change: increments the row version and finds the latest approved version. */
export function touchAsset(tx: Transaction, assetId: string): void {
  tx.send(
    `UPDATE dagapp.geospatial_assets a SET row_version = row_version + 1, updated_at = now(),
       latest_approved_version_ordinal = (
         SELECT max(version_ordinal) FROM dagapp.asset_versions v
         WHERE v.asset_id = a.asset_id AND approval_state = 'approved' AND deleted_at IS NULL)
     WHERE asset_id = $1`,
    [assetId],
    "touch_asset",
  );
}

export function setClearance(
  tx: Transaction,
  assetId: string,
  clearance: ClearanceState,
  by: string,
): void {
  tx.send(
    `UPDATE dagapp.geospatial_assets SET clearance_state = $2::dagapp.clearance_state,
       cleared_at = CASE WHEN $2 = 'uncleared' THEN NULL ELSE coalesce(cleared_at, now()) END,
       cleared_by = CASE WHEN $2 = 'uncleared' THEN NULL ELSE coalesce(cleared_by, $3) END,
       made_public_at = CASE WHEN $2 = 'public' THEN coalesce(made_public_at, now()) END,
       made_public_by = CASE WHEN $2 = 'public' THEN coalesce(made_public_by, $3) END
     WHERE asset_id = $1`,
    [assetId, clearance, by],
  );
}

export function setExposure(tx: Transaction, assetId: string, exposure: Exposure): void {
  tx.send(`UPDATE dagapp.geospatial_assets SET exposure = $2 WHERE asset_id = $1`, [
    assetId,
    exposure,
  ]);
}

/** Marks an asset as deleted; with `by` undefined it restores the asset. */
export function markDeleted(tx: Transaction, assetId: string, by: string | undefined): void {
  tx.send(
    `UPDATE dagapp.geospatial_assets
     SET deleted_at = CASE WHEN $2::text IS NOT NULL THEN now() END, deleted_by = $2
     WHERE asset_id = $1`,
    [assetId, by ?? null],
  );
}

export interface NewAssetEvent {
  readonly asset_id: string;
  readonly version_ordinal?: number | undefined;
  readonly event_type: AssetEventType;
  readonly actor: string;
  readonly via: string;
  readonly event_data?: JsonObject | undefined;
}

export function recordAssetEvent(tx: Transaction, event: NewAssetEvent): void {
  tx.send(
    `INSERT INTO dagapp.asset_events
       (asset_id, version_ordinal, event_type, actor, via, event_data)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      event.asset_id,
      event.version_ordinal ?? null,
      event.event_type,
      event.actor,
      event.via,
      event.event_data === undefined ? null : JSON.stringify(event.event_data),
    ],
    "record_asset_event",
  );
}
