/** Writes what is known of files in storage. */
import type { Queryable } from "../queryable.ts";

interface SeenFile {
  readonly path: string;
  readonly bytes: number | null;
}

/** Records files that a task wrote, or that were found in storage. */
export async function recordFiles(
  db: Queryable,
  files: readonly SeenFile[],
  by?: { readonly job_id: string; readonly node_id: string },
): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.dag_blob_assets AS known (path, bytes, job_id, node_id)
     SELECT path, bytes, $3::text, $4::text FROM unnest($1::text[], $2::bigint[]) AS given (path, bytes)
     ON CONFLICT (path) DO UPDATE SET bytes = coalesce(excluded.bytes, known.bytes),
       job_id = coalesce(excluded.job_id, known.job_id),
       node_id = coalesce(excluded.node_id, known.node_id), seen_at = now(), gone_at = NULL`,
    [
      files.map(({ path }) => path),
      files.map(({ bytes }) => bytes),
      by?.job_id ?? null,
      by?.node_id ?? null,
    ],
  );
}

export async function recordDeleted(db: Queryable, path: string): Promise<void> {
  await db.query(
    `UPDATE dagapp.dag_blob_assets SET gone_at = now() WHERE path = $1 AND gone_at IS NULL`,
    [path],
  );
}

/** Marks files below a prefix as gone that were not seen since a time. */
export async function markGone(db: Queryable, prefix: string, since: string): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE dagapp.dag_blob_assets SET gone_at = now()
     WHERE zone = split_part($1, '/', 1) AND starts_with(path, $1) AND gone_at IS NULL
       AND seen_at < $2::timestamptz`,
    [prefix, since],
  );
  return rowCount ?? 0;
}
