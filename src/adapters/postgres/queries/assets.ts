import type { AssetListed } from "../../../core/api/asset-schemas.ts";
import type { ClearanceState } from "../../../core/model/asset.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { ApprovalState, ProcessingState } from "../../../core/model/version.ts";
import type { Queryable } from "../queryable.ts";
import { assetColumnNames, versionColumns } from "./asset-rows.ts";
import { Conditions, contains, cut } from "./conditions.ts";
import { isoRow } from "./rows.ts";

export interface AssetFilter {
  readonly platform_id?: string | undefined;
  /** References that the asset must have. */
  readonly refs?: JsonObject | undefined;
  readonly clearance_state?: ClearanceState | undefined;
  readonly approval_state?: ApprovalState | undefined;
  readonly processing_state?: ProcessingState | undefined;
  readonly deleted: boolean;
  readonly search?: string | undefined;
}

export interface AssetPlace {
  /** As text, because a Date would lose the microseconds. */
  readonly updated_at: string;
  readonly asset_id: string;
}

interface Row {
  readonly asset_id: string;
  readonly place: string;
  readonly newest_version: object | null;
}

/** Lists assets, the last changed first. */
export async function listAssets(
  db: Queryable,
  filter: AssetFilter,
  limit: number,
  after: AssetPlace | undefined,
): Promise<{ assets: AssetListed[]; next: AssetPlace | null }> {
  const where = new Conditions()
    .add("a.platform_id = ?", filter.platform_id)
    .add("a.platform_refs @> ?::jsonb", filter.refs && JSON.stringify(filter.refs))
    .add("a.clearance_state = ?", filter.clearance_state)
    .add(
      "(a.asset_id ILIKE ? OR a.platform_refs::text ILIKE ? OR m.display_name ILIKE ?)",
      filter.search === undefined ? undefined : contains(filter.search),
    )
    .always(filter.deleted ? "a.deleted_at IS NOT NULL" : "a.deleted_at IS NULL");
  const { approval_state, processing_state } = filter;
  if (approval_state !== undefined || processing_state !== undefined) {
    // One version must have both: an approved version and another that failed are no match.
    const approval = where.value(approval_state ?? null);
    const processing = where.value(processing_state ?? null);
    where.always(`EXISTS (SELECT FROM dagapp.asset_versions v WHERE v.asset_id = a.asset_id
      AND v.deleted_at IS NULL
      AND v.approval_state = coalesce(${approval}::dagapp.approval_state, v.approval_state)
      AND v.processing_state = coalesce(${processing}::dagapp.processing_state, v.processing_state))`);
  }
  if (after !== undefined) {
    const at = where.value(after.updated_at);
    const id = where.value(after.asset_id);
    where.always(`(a.updated_at, a.asset_id) < (${at}::timestamptz, ${id})`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<Row>(
    `SELECT ${assetColumnNames.map((name) => `a.${name}`).join(", ")}, a.updated_at::text AS place, m.display_name,
       to_jsonb(newest) AS newest_version,
       (SELECT max(w.version_ordinal) FROM dagapp.asset_versions w WHERE w.asset_id = a.asset_id
          AND w.approval_state = 'pending_review' AND w.processing_state = 'completed'
          AND w.deleted_at IS NULL) AS review_ordinal
     FROM dagapp.geospatial_assets a
     LEFT JOIN dagapp.layer_metadata m USING (asset_id)
     LEFT JOIN LATERAL (
       SELECT ${versionColumns} FROM dagapp.asset_versions v WHERE v.asset_id = a.asset_id
       ORDER BY version_ordinal DESC LIMIT 1) newest ON true
     WHERE ${where.toString()}
     ORDER BY a.updated_at DESC, a.asset_id DESC LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  return {
    assets: page.rows.map(toListed),
    next: page.last && { updated_at: page.last.place, asset_id: page.last.asset_id },
  };
}

function toListed({ place: _, newest_version, ...row }: Row): AssetListed {
  return isoRow<AssetListed>({
    ...row,
    newest_version: newest_version && isoTexts(newest_version),
  });
}

/** Times inside jsonb are text already, in the database's own form. */
function isoTexts(row: object): object {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]: [string, unknown]) => [
      key,
      key.endsWith("_at") && typeof value === "string" ? new Date(value).toISOString() : value,
    ]),
  );
}

/**
 * Finds versions whose copy in the external zone must be made or removed and that have no running
 * export. A job that was started for this revision and failed is not started again automatically.
 */
export async function findExportsToChange(
  db: Queryable,
  limit: number,
): Promise<readonly { readonly asset_id: string; readonly version_ordinal: number }[]> {
  const { rows } = await db.query<{ asset_id: string; version_ordinal: number }>(
    `SELECT v.asset_id, v.version_ordinal
     FROM dagapp.asset_versions v JOIN dagapp.geospatial_assets a USING (asset_id)
     WHERE v.export_state IS NOT NULL AND v.export_state <> 'running'
       AND CASE WHEN a.clearance_state = 'public' AND v.approval_state = 'approved'
           AND v.deleted_at IS NULL
         THEN v.processing_state = 'completed'
           AND num_nonnulls(v.blob_path, v.table_name, v.stac_item_id, v.stac_collection_id) > 0
           AND v.exported_revision IS DISTINCT FROM v.served_revision
           AND NOT EXISTS (SELECT FROM dagapp.asset_jobs j
             WHERE j.asset_id = v.asset_id AND j.version_ordinal = v.version_ordinal
               AND j.revision = v.revision AND j.purpose = 'export' AND NOT j.superseded)
         ELSE v.export_state IN ('completed', 'failed') AND NOT EXISTS (SELECT FROM dagapp.asset_jobs j
             WHERE j.asset_id = v.asset_id AND j.version_ordinal = v.version_ordinal
               AND j.revision = v.revision AND j.purpose = 'withdraw' AND NOT j.superseded)
         END
     LIMIT $1`,
    [limit],
  );
  return rows;
}
