import type { ApiKey } from "../../../core/api/keys.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions } from "./conditions.ts";
import { isoRow } from "./iso-row.ts";

/** Never the hash: nothing that could open a door leaves the table. */
const columns = `key_id, platform_id, name, scopes, created_at, created_by, expires_at, revoked_at,
  revoked_by, rotated_from`;

export async function listKeys(
  db: Queryable,
  filter: { readonly platform_id?: string | undefined },
): Promise<ApiKey[]> {
  const where = new Conditions().add("platform_id = ?", filter.platform_id);
  const { rows } = await db.query(
    `SELECT ${columns} FROM dagapp.api_keys WHERE ${where.toString()}
     ORDER BY created_at DESC, key_id LIMIT 1000`,
    where.values,
  );
  return rows.map((row) => isoRow<ApiKey>(row));
}

export async function findKey(db: Queryable, keyId: string): Promise<ApiKey | undefined> {
  const { rows } = await db.query(`SELECT ${columns} FROM dagapp.api_keys WHERE key_id = $1`, [
    keyId,
  ]);
  return rows[0] && isoRow<ApiKey>(rows[0]);
}
