/** Uploads that arrive in parts. Only the database's clock counts. */
import type { JsonObject } from "../../../core/model/json.ts";
import type { Queryable } from "../queryable.ts";

export interface UploadRow {
  readonly upload_id: string;
  readonly path: string;
  readonly length: number;
  readonly received: number;
  readonly sha256: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly replaces: boolean;
  readonly platform_id: string | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly completed_at: Date | null;
}

export type NewUpload = Pick<
  UploadRow,
  "upload_id" | "path" | "length" | "sha256" | "replaces" | "platform_id" | "created_by"
> & { readonly metadata: JsonObject };

/** An upload is kept for this long after its last part. */
const keptDays = 7;

const columns =
  "upload_id, path, length::float8, received::float8, sha256, metadata, replaces, platform_id, created_by, created_at, expires_at, completed_at";

export async function insertUpload(db: Queryable, upload: NewUpload): Promise<UploadRow> {
  const { rows } = await db.query<UploadRow>(
    `INSERT INTO dagapp.uploads
       (upload_id, path, length, sha256, metadata, replaces, platform_id, created_by, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(days => ${keptDays}))
     RETURNING ${columns}`,
    [
      upload.upload_id,
      upload.path,
      upload.length,
      upload.sha256,
      JSON.stringify(upload.metadata),
      upload.replaces,
      upload.platform_id,
      upload.created_by,
    ],
  );
  return one(rows);
}

export async function findUpload(db: Queryable, id: string): Promise<UploadRow | undefined> {
  const { rows } = await db.query<UploadRow>(
    `SELECT ${columns} FROM dagapp.uploads WHERE upload_id = $1`,
    [id],
  );
  return rows[0];
}

/** Those of one path, or those that are not complete; the newest first. */
export async function listUploads(
  db: Queryable,
  { path, platform_id, limit }: { path?: string; platform_id?: string; limit: number },
): Promise<readonly UploadRow[]> {
  const { rows } = await db.query<UploadRow>(
    `SELECT ${columns} FROM dagapp.uploads
     WHERE CASE WHEN $1::text IS NULL THEN completed_at IS NULL ELSE path = $1 END
       AND ($2::text IS NULL OR platform_id = $2)
     ORDER BY created_at DESC, upload_id LIMIT $3`,
    [path ?? null, platform_id ?? null, limit],
  );
  return rows;
}

/** Makes a writer the only one that can confirm bytes, and answers the upload as it is then. */
export async function takeUpload(
  db: Queryable,
  id: string,
  writer: string,
): Promise<UploadRow | undefined> {
  const { rows } = await db.query<UploadRow>(
    `UPDATE dagapp.uploads SET writer = $2 WHERE upload_id = $1 RETURNING ${columns}`,
    [id, writer],
  );
  return rows[0];
}

/** False: another writer has taken the upload. */
export async function confirmBytes(
  db: Queryable,
  id: string,
  writer: string,
  received: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE dagapp.uploads
     SET received = $3, expires_at = now() + make_interval(days => ${keptDays})
     WHERE upload_id = $1 AND writer = $2`,
    [id, writer, received],
  );
  return rowCount === 1;
}

export async function completeUpload(db: Queryable, id: string): Promise<UploadRow | undefined> {
  const { rows } = await db.query<UploadRow>(
    `UPDATE dagapp.uploads SET completed_at = coalesce(completed_at, now())
     WHERE upload_id = $1 RETURNING ${columns}`,
    [id],
  );
  return rows[0];
}

export async function deleteUpload(db: Queryable, id: string): Promise<void> {
  await db.query(`DELETE FROM dagapp.uploads WHERE upload_id = $1`, [id]);
}

/** Uploads that have expired, and those that have arrived whole and were not finished. */
export async function findOpenEnds(
  db: Queryable,
): Promise<readonly (UploadRow & { readonly is_expired: boolean })[]> {
  const { rows } = await db.query<UploadRow & { is_expired: boolean }>(
    `SELECT ${columns}, expires_at < now() AS is_expired FROM dagapp.uploads
     WHERE expires_at < now() OR (completed_at IS NULL AND received = length)
     ORDER BY expires_at LIMIT 100`,
  );
  return rows;
}

function one(rows: readonly UploadRow[]): UploadRow {
  const [row] = rows;
  if (row === undefined) throw new Error("an inserted upload was not answered");
  return row;
}
