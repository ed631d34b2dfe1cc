import type { Queryable } from "../queryable.ts";

/**
 * Versions whose copy in the external zone is not as it should be, and that nobody is changing. A
 * job that was started for this revision, and failed, is not started again by itself.
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
         THEN v.processing_state = 'completed' AND v.blob_path IS NOT NULL
           AND v.exported_revision IS DISTINCT FROM v.served_revision
           AND NOT EXISTS (SELECT FROM dagapp.asset_jobs j
             WHERE j.asset_id = v.asset_id AND j.version_ordinal = v.version_ordinal
               AND j.revision = v.revision AND j.purpose = 'export' AND NOT j.superseded)
         ELSE v.export_state = 'completed' AND NOT EXISTS (SELECT FROM dagapp.asset_jobs j
             WHERE j.asset_id = v.asset_id AND j.version_ordinal = v.version_ordinal
               AND j.revision = v.revision AND j.purpose = 'withdraw' AND NOT j.superseded)
         END
     LIMIT $1`,
    [limit],
  );
  return rows;
}
