import type { Queryable, Transaction } from "../queryable.ts";

export interface ExternalPublication {
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly revision: number;
  readonly published_by: string;
}

/** The caller must hold the lock of the asset. */
export function writePublication(tx: Transaction, given: ExternalPublication): void {
  tx.send(
    `INSERT INTO dagapp.external_publications (asset_id, version_ordinal, revision, published_by)
     VALUES ($1, $2, $3, $4)
     ON CONFLICT (asset_id) DO UPDATE SET version_ordinal = $2, revision = $3, published_by = $4,
       published_at = now()`,
    [given.asset_id, given.version_ordinal, given.revision, given.published_by],
  );
}

/** The caller must hold the lock of the asset. */
export function deletePublication(tx: Transaction, assetId: string): void {
  tx.send("DELETE FROM dagapp.external_publications WHERE asset_id = $1", [assetId]);
}

/**
 * Publications whose asset is no longer public, or whose latest approved version is another one, or
 * has another revision, than was published.
 */
export async function findStalePublications(
  db: Queryable,
  limit: number,
): Promise<readonly { readonly asset_id: string; readonly published_by: string }[]> {
  const { rows } = await db.query<{ asset_id: string; published_by: string }>(
    `SELECT p.asset_id, p.published_by
     FROM dagapp.external_publications p JOIN dagapp.geospatial_assets a USING (asset_id)
     LEFT JOIN LATERAL (
       SELECT version_ordinal, served_revision FROM dagapp.asset_versions v
       WHERE v.asset_id = p.asset_id AND v.approval_state = 'approved' AND v.deleted_at IS NULL
       ORDER BY version_ordinal DESC LIMIT 1) latest ON true
     WHERE a.clearance_state <> 'public' OR a.deleted_at IS NOT NULL
       OR latest.version_ordinal IS DISTINCT FROM p.version_ordinal
       OR latest.served_revision IS DISTINCT FROM p.revision
     ORDER BY p.asset_id LIMIT $1`,
    [limit],
  );
  return rows;
}
