/** Reads what is known of files in storage. */
import type { Queryable } from "../queryable.ts";

export interface BlobAsset {
  readonly path: string;
  readonly bytes: number | null;
  readonly job_id: string | null;
  readonly node_id: string | null;
  readonly seen_at: Date;
}

/**
 * Files of a zone that no item, no revision and no exported version uses, in the order of their paths. Only
 * the records are read, not the storage.
 */
export async function listUnreferenced(
  db: Queryable,
  { zone, after = "", limit }: { zone: string; after?: string | undefined; limit: number },
): Promise<readonly BlobAsset[]> {
  const { rows } = await db.query<BlobAsset>(
    `SELECT path, bytes, job_id, node_id, seen_at FROM dagapp.dag_blob_assets blob
     WHERE zone = $1 AND gone_at IS NULL AND path > $2
       AND NOT EXISTS (
         SELECT FROM dagapp.dag_dataset_refs ref
         WHERE ref.source_kind = 'file' AND ref.source_id = blob.path)
       AND NOT EXISTS (
         SELECT FROM dagapp.dag_dataset_refs ref
         WHERE ref.target_kind = 'file' AND ref.target_id = blob.path
           AND ref.relation = 'exported_as')
       AND NOT (zone IN ('gold', 'external') AND (path = zone || '/catalog.json' OR EXISTS (
         SELECT FROM dagapp.asset_versions v
         WHERE v.asset_id = split_part(path, '/', 2) AND v.deleted_at IS NULL
           AND starts_with(path, zone || '/' || v.asset_id || '/v' || v.version_ordinal || '/'))))
     ORDER BY path LIMIT $3`,
    [zone, after, limit],
  );
  return rows;
}

export async function databaseNow(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ now: string }>(`SELECT now()::text AS now`);
  return rows[0]?.now ?? "";
}
