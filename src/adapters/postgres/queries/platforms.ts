import type { Platform } from "../../../core/model/platform.ts";
import type { Queryable } from "../queryable.ts";
import { isoRow } from "./rows.ts";
import type { ApiKey } from "../../../core/api/keys.ts";
import { Conditions } from "./conditions.ts";

const columns = `platform_id, display_name, required_refs, optional_refs, version_ref, is_active,
  callback_url, callback_hosts, source_prefixes, collections, secret_number, secret_changed_at, row_version,
  created_at, updated_at`;

export async function listPlatforms(db: Queryable): Promise<Platform[]> {
  const { rows } = await db.query(`SELECT ${columns} FROM dagapp.platforms ORDER BY platform_id`);
  return rows.map((row) => isoRow<Platform>(row));
}

export async function findPlatform(
  db: Queryable,
  platformId: string,
): Promise<Platform | undefined> {
  const { rows } = await db.query(
    `SELECT ${columns} FROM dagapp.platforms WHERE platform_id = $1`,
    [platformId],
    "find_platform",
  );
  return rows[0] && isoRow<Platform>(rows[0]);
}

/** Without the hash, which never leaves the table. */
const keyColumns = `key_id, platform_id, name, scopes, created_at, created_by, expires_at, revoked_at,
  revoked_by, rotated_from`;

export async function listKeys(
  db: Queryable,
  filter: { readonly platform_id?: string | undefined },
): Promise<ApiKey[]> {
  const where = new Conditions().add("platform_id = ?", filter.platform_id);
  const { rows } = await db.query(
    `SELECT ${keyColumns} FROM dagapp.api_keys WHERE ${where.toString()}
     ORDER BY created_at DESC, key_id LIMIT 1000`,
    where.values,
  );
  return rows.map((row) => isoRow<ApiKey>(row));
}

export async function findKey(db: Queryable, keyId: string): Promise<ApiKey | undefined> {
  const { rows } = await db.query(`SELECT ${keyColumns} FROM dagapp.api_keys WHERE key_id = $1`, [
    keyId,
  ]);
  return rows[0] && isoRow<ApiKey>(rows[0]);
}
