import type { PlatformEdit } from "../../../core/model/platform.ts";
import type { Queryable, Transaction } from "../queryable.ts";

/** Answers false when the platform exists: the caller then updates it. */
export async function insertPlatform(
  tx: Transaction,
  platformId: string,
  edit: PlatformEdit,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO dagapp.platforms (platform_id, display_name, required_refs, optional_refs,
       version_ref, is_active, callback_url, callback_hosts, source_prefixes, collections)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
    values(platformId, edit),
  );
  return rowCount === 1;
}

/** Answers false when the platform was changed since that row version. */
export async function updatePlatform(
  tx: Transaction,
  platformId: string,
  rowVersion: number,
  edit: PlatformEdit,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE dagapp.platforms SET display_name = $2, required_refs = $3, optional_refs = $4,
       version_ref = $5, is_active = $6, callback_url = $7, callback_hosts = $8,
       source_prefixes = $9, collections = $10, row_version = row_version + 1, updated_at = now()
     WHERE platform_id = $1 AND row_version = $11`,
    [...values(platformId, edit), rowVersion],
  );
  return rowCount === 1;
}

/** Switches to the next secret; callbacks are also signed with the one before for a day. */
export async function rotateSecret(db: Queryable, platformId: string): Promise<void> {
  await db.query(
    `UPDATE dagapp.platforms SET secret_number = secret_number + 1, secret_changed_at = now(),
       row_version = row_version + 1, updated_at = now()
     WHERE platform_id = $1`,
    [platformId],
  );
}

export async function hasAssets(db: Queryable, platformId: string): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM dagapp.geospatial_assets WHERE platform_id = $1) AS found`,
    [platformId],
  );
  return rows[0]?.found === true;
}

function values(platformId: string, edit: PlatformEdit): unknown[] {
  return [
    platformId,
    edit.display_name,
    edit.required_refs,
    edit.optional_refs,
    edit.version_ref,
    edit.is_active,
    edit.callback_url,
    edit.callback_hosts,
    edit.source_prefixes,
    edit.collections,
  ];
}
