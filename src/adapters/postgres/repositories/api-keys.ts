import type { KeyScope } from "../../../core/model/platform.ts";
import type { Queryable } from "../queryable.ts";

export interface NewKey {
  readonly key_id: string;
  readonly platform_id: string;
  readonly name: string;
  readonly key_hash: string;
  readonly scopes: readonly KeyScope[];
  readonly created_by: string;
  readonly expires_at: string | null;
  readonly rotated_from: string | null;
}

export async function insertKey(db: Queryable, key: NewKey): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.api_keys (key_id, platform_id, name, key_hash, scopes, created_by,
       expires_at, rotated_from)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      key.key_id,
      key.platform_id,
      key.name,
      key.key_hash,
      key.scopes,
      key.created_by,
      key.expires_at,
      key.rotated_from,
    ],
  );
}

/** Lets a key expire after so many seconds, unless it expires sooner. */
export async function expireKey(db: Queryable, keyId: string, seconds: number): Promise<void> {
  await db.query(
    `UPDATE dagapp.api_keys SET expires_at = least(expires_at, now() + make_interval(secs => $2))
     WHERE key_id = $1`,
    [keyId, seconds],
  );
}

/** Revokes a key; a second call changes nothing. */
export async function revokeKey(db: Queryable, keyId: string, by: string): Promise<void> {
  await db.query(
    `UPDATE dagapp.api_keys SET revoked_at = now(), revoked_by = $2
     WHERE key_id = $1 AND revoked_at IS NULL`,
    [keyId, by],
  );
}
